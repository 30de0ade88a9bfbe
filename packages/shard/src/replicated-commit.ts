import type { IndexedChange } from "@shoal/inverted-index";
import type { KeyValueChange } from "@shoal/kv";
import { type ObjectId, ShoalError } from "@shoal/model";
import type { Change, CopyState } from "@shoal/replication";
import { type BaseRow, type Commit, DELETED, sameVector } from "./commit-draft.js";
import { encodeHeadRecord } from "./head-record.js";
import { encodeJournalRecord, type JournalEntry, NO_DOCUMENT } from "./journal-record.js";
import { HEAD_KEY, journalKey, rowKey, touchedKey } from "./key-layout.js";
import { type BaseRowSource, readBaseRows } from "./read-base-rows.js";
import { RowView } from "./row.js";

export interface ReplicatedOptions {
  readonly base: BaseRowSource;
  readonly dimensions: number | undefined;
  /** Of the copy after the commit. */
  readonly state: CopyState;
  /** The changes are entries of the journal from `first` on; undefined: they are rows of a catch-up. */
  readonly journal: { readonly epoch: number; readonly first: number } | undefined;
}

/** A change with what it meets here. */
interface Met {
  readonly id: ObjectId;
  readonly key: Uint8Array;
  readonly rawId: Uint8Array;
  /** Undefined: deleted. */
  readonly row: RowView | undefined;
  /** The object's document here, -1 when there is none. */
  readonly document: number;
  /** The other object that has the row's document here. */
  readonly occupant: ObjectId | undefined;
}

/**
 * The commit that makes of this copy's objects what another copy has made of its own: the same rows, document ids, sequences and
 * times. What the indexes need is worked out here. A document belongs to one object also where a catch-up brings rows in another
 * order than they were written: who has it here goes first, and comes again with its own row.
 */
export async function replicatedCommit(changes: readonly Change[], options: ReplicatedOptions): Promise<Commit> {
  const all = changes.map((change) => meet(change, options));
  const met = options.journal === undefined ? oneADocument(all) : all;
  const baseIds: ObjectId[] = [];
  const removedIds: ObjectId[] = [];
  for (const { id, row, occupant } of met) {
    (row === undefined ? removedIds : baseIds).push(id);
    if (occupant !== undefined) baseIds.push(occupant);
  }
  const draft = new ReplicatedDraft(await readBaseRows(options.base, [{ baseIds, removedIds }]), options);
  for (const [at, one] of met.entries()) draft.add(one, at);
  return draft.finish();
}

function meet({ document: id, row: sent }: Change, { base: { table, place } }: ReplicatedOptions): Met {
  const row = sent === undefined ? undefined : RowView.of(sent as Uint8Array);
  if (sent !== undefined && row === undefined) {
    throw new ShoalError("internal", `${place} was sent a row of object '${id}' that cannot be read`);
  }
  const key = rowKey(id as ObjectId);
  const document = table.find(id as ObjectId);
  const isTaken = row !== undefined && row.document !== document && table.has(row.document);
  const occupant = isTaken ? table.idOf(row.document) : undefined;
  return { id: id as ObjectId, key, rawId: key.subarray(1), row, document, occupant };
}

/**
 * Of two rows that have the same document the older one goes: they were read at different times, and its object was deleted in
 * between. The journal will say so.
 */
function oneADocument(all: readonly Met[]): readonly Met[] {
  const newest = new Map<number, RowView>();
  for (const { row } of all) {
    if (row !== undefined && (newest.get(row.document)?.sequence ?? -1) < row.sequence) newest.set(row.document, row);
  }
  return all.map((one) =>
    one.row === undefined || newest.get(one.row.document) === one.row
      ? one
      : { ...one, row: undefined, occupant: undefined },
  );
}

/** What becomes of the row of one document. */
interface DocumentChange {
  before: BaseRow;
  /** Whether an object has it before. */
  isThere: boolean;
  after: RowView | undefined;
}

class ReplicatedDraft {
  readonly #rows: ReadonlyMap<ObjectId, BaseRow>;
  readonly #options: ReplicatedOptions;
  /** Taken out of the views before anything is put into them. */
  readonly #removed: JournalEntry[] = [];
  readonly #removedIds = new Set<ObjectId>();
  readonly #puts: { readonly entry: JournalEntry; readonly row: RowView }[] = [];
  readonly #journal: JournalEntry[] = [];
  readonly #batch: KeyValueChange[] = [];
  readonly #documents = new Map<number, DocumentChange>();
  /** What changes of the ids that are expected. */
  readonly #gone: Uint8Array[] = [];
  readonly #come: Uint8Array[] = [];
  #dimensions: number | undefined;

  constructor(rows: ReadonlyMap<ObjectId, BaseRow>, options: ReplicatedOptions) {
    this.#rows = rows;
    this.#options = options;
    this.#dimensions = options.dimensions;
  }

  add(met: Met, at: number): void {
    const { journal } = this.#options;
    const sequence = journal === undefined ? undefined : journal.first + at;
    if (journal === undefined) this.#touch(met.rawId);
    else if (met.row !== undefined) this.#checkStamp(met.row, met.id, journal.epoch, sequence ?? 0);
    const entry = sequence !== undefined && this.#isBehind(met, sequence) ? nothing(met.rawId) : this.#change(met);
    if (journal !== undefined) this.#journal.push(entry);
  }

  finish(): Commit {
    const { state, journal } = this.#options;
    const batch = this.#batch;
    const ids = this.#options.base.table.expected?.copy();
    for (const rawId of this.#gone) ids?.remove(rawId);
    for (const rawId of this.#come) ids?.add(rawId);
    const { sequence, epoch } = state.end;
    if (journal !== undefined) {
      batch.push({ type: "put", key: journalKey(sequence), value: encodeJournalRecord(this.#journal, journal.epoch) });
    }
    batch.push({ type: "put", key: HEAD_KEY, value: encodeHeadRecord({ sequence, epoch, ids }) });
    const dimensions = this.#dimensions;
    const removed = this.#removed.length;
    const row = (at: number) => this.#puts[at - removed]?.row;
    return {
      entries: [...this.#removed, ...this.#puts.map(({ entry }) => entry)],
      lastSequence: sequence,
      ids,
      row,
      vectorBytes: (at) => row(at)?.vectorBytes ?? new Uint8Array(0),
      batch,
      changes: this.#indexed(),
      reserved: [],
      dimensions,
    };
  }

  /** While a copy catches up some rows are ahead of its journal: they stay. */
  #isBehind({ id, occupant }: Met, sequence: number): boolean {
    return [id, occupant].some((one) => {
      const row = one === undefined || this.#removedIds.has(one) ? undefined : this.#rows.get(one);
      return row instanceof RowView && row.sequence > sequence;
    });
  }

  #change(met: Met): JournalEntry {
    const { id, key, rawId, row, document, occupant } = met;
    const base = this.#rows.get(id);
    if (row === undefined) {
      this.#batch.push({ type: "del", key });
      if (document >= 0) return this.#remove(id, rawId, document);
      // It was lost together with its id, and is deleted now.
      if (base instanceof ShoalError) this.#gone.push(rawId);
      return nothing(rawId);
    }
    if (occupant !== undefined && !this.#removedIds.has(occupant)) this.#evict(occupant, row.document);
    const isMoved = document >= 0 && document !== row.document;
    if (isMoved) this.#remove(id, rawId, document);
    this.#batch.push({ type: "put", key, value: row.bytes });
    // What was lost with its id is among those that are expected: this brings it back.
    if (isMoved || (document < 0 && !(base instanceof ShoalError))) this.#come.push(rawId);
    return this.#put(met, row, base);
  }

  #put({ rawId, document }: Met, row: RowView, base: BaseRow): JournalEntry {
    const { table } = this.#options.base;
    const isSame = document === row.document;
    const { creationTimeUnix, hasVector } = row;
    const entry: JournalEntry = {
      kind: "put",
      rawId,
      document: row.document,
      creationTimeUnix,
      hasVector,
      vectorChanged: !isSame || !(base instanceof RowView) || !sameVector(base, row),
      created: !isSame || table.creationTime(document) !== creationTimeUnix,
    };
    if (hasVector) this.#checkDimensions(row);
    this.#puts.push({ entry, row });
    const change = this.#documents.get(row.document);
    if (change !== undefined) change.after = row;
    else this.#documents.set(row.document, { before: isSame ? base : undefined, isThere: isSame, after: row });
    return entry;
  }

  /** Its own row comes later in the same commit, or in one that follows. */
  #evict(id: ObjectId, document: number): void {
    const key = rowKey(id);
    const rawId = key.subarray(1);
    this.#batch.push({ type: "del", key });
    this.#touch(rawId);
    this.#remove(id, rawId, document);
  }

  /** Takes an object out of its document; undefined when that has been done. */
  #remove(id: ObjectId, rawId: Uint8Array, document: number): JournalEntry {
    const entry: JournalEntry = { ...DELETED, rawId, document };
    if (this.#removedIds.has(id)) return entry;
    this.#removedIds.add(id);
    this.#removed.push(entry);
    this.#gone.push(rawId);
    const after = this.#documents.get(document)?.after;
    this.#documents.set(document, { before: this.#rows.get(id), isThere: true, after });
    return entry;
  }

  #touch(rawId: Uint8Array): void {
    this.#batch.push({ type: "put", key: touchedKey(rawId), value: NOTHING });
  }

  /** Undefined: what some document held cannot be read. */
  #indexed(): readonly IndexedChange[] | undefined {
    const changes: IndexedChange[] = [];
    for (const [document, { before, isThere, after }] of this.#documents) {
      if (isThere && !(before instanceof RowView)) return undefined;
      changes.push({ document, before: before instanceof RowView ? before : undefined, after });
    }
    return changes;
  }

  #checkDimensions({ dimensions }: RowView): void {
    this.#dimensions ??= dimensions;
    if (dimensions === this.#dimensions) return;
    const { place } = this.#options.base;
    throw new ShoalError("internal", `${place} was sent a vector of ${dimensions} dimensions, not ${this.#dimensions}`);
  }

  #checkStamp(row: RowView, id: ObjectId, epoch: number, sequence: number): void {
    if (row.sequence === sequence && row.epoch === epoch) return;
    const { place } = this.#options.base;
    const stamp = `change ${row.sequence} of epoch ${row.epoch}`;
    throw new ShoalError("internal", `${place} was sent object '${id}' as ${stamp}, not ${sequence} of ${epoch}`);
  }
}

const NOTHING = new Uint8Array(0);

function nothing(rawId: Uint8Array): JournalEntry {
  return { ...DELETED, rawId, document: NO_DOCUMENT };
}
