import type { VectorIndex } from "@shoal/vector-index";
import { DocumentRecycling } from "./document-recycling.js";
import type { IdSetDigest } from "./id-set-digest.js";
import type { IdTable } from "./id-table.js";
import { type JournalEntry, NO_DOCUMENT } from "./journal-record.js";

/** What one commit changed, with the vectors that came with it. */
export interface AppliedCommit {
  readonly entries: readonly JournalEntry[];
  readonly lastSequence: number;
  /** All ids that are there afterwards; undefined: nobody knows. */
  readonly ids: Readonly<IdSetDigest> | undefined;
  /** Bytes of the vector of an entry that has one. */
  vectorBytes(entry: number): Uint8Array;
}

/**
 * The two views of the journal that answer reads: the id table and the vector index. They change together, in one
 * synchronous step, after the commit is on disk.
 */
export class Views {
  readonly recycling: DocumentRecycling;
  /** Undefined for a class that skips vector indexing, and until there is a vector. */
  index: VectorIndex | undefined;
  /** Sequence of the last change applied. */
  sequence: number;

  constructor(
    readonly table: IdTable,
    index: VectorIndex | undefined,
    sequence: number,
  ) {
    this.index = index;
    this.sequence = sequence;
    this.recycling = new DocumentRecycling((document) => table.recycle(document));
  }

  apply(commit: AppliedCommit): void {
    const freed: number[] = [];
    for (const entry of commit.entries) {
      const document = applyToTable(this.table, entry);
      if (document !== undefined) freed.push(document);
    }
    // What a catch-up has given to another object at once is not free.
    for (const document of freed) if (!this.table.has(document)) this.recycling.release(document);
    this.table.expected = commit.ids;
    this.sequence = commit.lastSequence;
    if (this.index !== undefined) applyToIndex(this.index, commit);
  }

  /** They have reached `sequence`, and no more. */
  endAt(sequence: number): void {
    this.sequence = sequence;
    this.index?.remove(new Uint32Array(0), sequence);
  }

  /** To be called before a commit is drafted here: documents are given to objects by this table. */
  lead(): void {
    if (this.table.isFollowing) this.table.adoptFreeDocuments(this.recycling.held());
  }
}

/** Returns the document id that the entry has freed. Entries that the table has seen already change nothing. */
export function applyToTable(table: IdTable, entry: JournalEntry): number | undefined {
  if (entry.document === NO_DOCUMENT) return undefined;
  const document = table.findRaw(entry.rawId);
  if (entry.kind === "delete") {
    if (document < 0) return undefined;
    table.remove(document);
    return document;
  }
  if (document < 0) table.insert(entry.rawId, entry.document, entry.creationTimeUnix);
  else if (entry.created || table.creationTime(document) === 0) table.renew(document, entry.creationTimeUnix);
  return undefined;
}

function applyToIndex(index: VectorIndex, commit: AppliedCommit): void {
  const { entries, lastSequence } = commit;
  const removed = entries.filter((entry) => entry.kind === "delete" || (entry.vectorChanged && !entry.hasVector));
  const changed = entries.flatMap((entry, at) => (entry.vectorChanged && entry.hasVector ? [at] : []));
  // Also with nothing to remove: this is how the index learns the sequence.
  index.remove(
    Uint32Array.from(removed, (entry) => entry.document),
    lastSequence,
  );
  if (changed.length === 0) return;
  const vectors = new Float32Array(changed.length * index.dimensions);
  const bytes = new Uint8Array(vectors.buffer);
  const documents = new Uint32Array(changed.length);
  for (const [row, at] of changed.entries()) {
    bytes.set(commit.vectorBytes(at), row * index.dimensions * 4);
    documents[row] = entries[at]?.document ?? 0;
  }
  index.put(documents, vectors, lastSequence);
}
