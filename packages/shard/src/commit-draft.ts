import type { IndexedChange } from "@shoal/inverted-index";
import type { KeyValueChange } from "@shoal/kv";
import { CLIENT_PHRASES, type ObjectId, type PutMode, type PutTimes, ShoalError } from "@shoal/model";
import { byteYielder } from "./byte-yielder.js";
import { DamagedBaseRow } from "./damaged-base-row.js";
import { encodeHeadRecord } from "./head-record.js";
import type { IdTable } from "./id-table.js";
import { encodeJournalRecord, type JournalEntry } from "./journal-record.js";
import { HEAD_KEY, journalKey, rowKey } from "./key-layout.js";
import { mergeRow } from "./merge-row.js";
import type { PreparedMerge } from "./prepare-merge.js";
import type { PreparedPut } from "./prepare-put.js";
import { RowView, stampPlace, stampTimes } from "./row.js";
import type { AppliedCommit } from "./views.js";

/** A row as it is stored before the commit: unreadable, or not there. */
export type BaseRow = RowView | ShoalError | undefined;

export interface DraftOptions {
  readonly className: string;
  readonly table: IdTable;
  readonly dimensions: number | undefined;
  readonly objectBytesMax: number;
  /** Time of the commit. */
  readonly nowUnix: number;
  /** An error for an id that the table lacks: its row may be one that was lost together with its id. */
  readonly baseRows: ReadonlyMap<ObjectId, BaseRow>;
}

interface ObjectDraft {
  /** -1 when the object is not stored yet. */
  readonly document: number;
  readonly id: ObjectId;
  /** Undefined: deleted. */
  row: Buffer | undefined;
  creationTimeUnix: number;
  created: boolean;
}

/** A finished commit: what to write, and what to apply when that is durable. */
export interface Commit extends AppliedCommit {
  readonly batch: readonly KeyValueChange[];
  /** For the inverted index, one an entry; undefined: what some object was before cannot be read. */
  readonly changes: readonly IndexedChange[] | undefined;
  /** The row that an entry has written; undefined for a deletion. */
  row(entry: number): RowView | undefined;
  /** Document ids that were reserved for it and go back when it fails. */
  readonly reserved: readonly number[];
  readonly dimensions: number | undefined;
}

/**
 * Changes that go into one commit, resolved in order: each one sees the table as the earlier ones left it, and only the
 * last state of an object is written. Nothing outside changes before the commit is applied.
 */
export class CommitDraft {
  readonly #options: DraftOptions;
  readonly #objects = new Map<ObjectId, ObjectDraft>();
  #dimensions: number | undefined;
  /** Of the merges. Nothing that a draft depends on changes between two steps: a shard has one commit at a time. */
  readonly yielder = byteYielder();

  constructor(options: DraftOptions) {
    this.#options = options;
    this.#dimensions = options.dimensions;
  }

  /** Length of the vectors once this is committed. */
  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  put(put: PreparedPut, mode: PutMode): PutTimes | ShoalError {
    const { nowUnix } = this.#options;
    const before = this.#current(put.id);
    if (mode === "create" && this.#isLostWithItsId(put.id)) return before as ShoalError;
    if (mode === "create" && before !== undefined) {
      return new ShoalError("conflict", CLIENT_PHRASES.idAlreadyExists(put.id));
    }
    if (mode === "replace" && before === undefined) return notFound(put.id);
    const fault = this.#checkDimensions(put.id, put.dimensions);
    if (fault !== undefined) return fault;
    const draft = this.#draft(put.id);
    draft.row = put.row;
    draft.created ||= mode !== "replace";
    draft.creationTimeUnix = mode === "replace" ? draft.creationTimeUnix || nowUnix : nowUnix;
    stampTimes(put.row, draft.creationTimeUnix, nowUnix);
    return { creationTimeUnix: draft.creationTimeUnix, lastUpdateTimeUnix: nowUnix };
  }

  /** The row after the merge, or why there is none; nothing is changed then. Never fails. */
  merge(merge: PreparedMerge): RowView | ShoalError {
    const before = this.#current(merge.id);
    if (before === undefined) return notFound(merge.id);
    if (before instanceof ShoalError) return before;
    const row = mergedRow(before, merge, this.#options.objectBytesMax);
    this.yielder.count(before.bytes.length + merge.bytes);
    if (row instanceof ShoalError) return row;
    const fault = this.#checkDimensions(merge.id, merge.vector?.length ?? 0);
    if (fault !== undefined) return fault;
    const draft = this.#draft(merge.id);
    draft.row = row;
    draft.creationTimeUnix ||= this.#options.nowUnix;
    stampTimes(row, draft.creationTimeUnix, this.#options.nowUnix);
    return view(row);
  }

  /** Outcomes in the order of the merges. Yields in between. Never fails. */
  async mergeAll(merges: readonly (PreparedMerge | ShoalError)[]): Promise<readonly (PutTimes | ShoalError)[]> {
    const outcomes: (PutTimes | ShoalError)[] = [];
    for (const merge of merges) {
      outcomes.push(merge instanceof ShoalError ? merge : timesOf(this.merge(merge)));
      if (this.yielder.isDue) await this.yielder.next();
    }
    return outcomes;
  }

  /** False when there was nothing to delete; an error when nobody knows. */
  delete(id: ObjectId): boolean | ShoalError {
    const before = this.#current(id);
    if (before === undefined) return false;
    if (before instanceof ShoalError && this.#isLostWithItsId(id)) return before;
    this.#draft(id).row = undefined;
    return true;
  }

  /** Gives documents and sequences to what is to be written; undefined when nothing is. */
  finish(previousSequence: number, epoch: number): Commit | undefined {
    const entries: JournalEntry[] = [];
    const rows: (Buffer | undefined)[] = [];
    const batch: KeyValueChange[] = [];
    const changes: IndexedChange[] = [];
    const reserved: number[] = [];
    const ids = this.#options.table.expected?.copy();
    for (const draft of this.#objects.values()) {
      if (draft.row === undefined && draft.document < 0) continue;
      const key = rowKey(draft.id);
      const written = draft.row === undefined ? undefined : view(draft.row);
      const entry = this.#entry(draft, written, key.subarray(1), reserved);
      entries.push(entry);
      const base = draft.document < 0 ? undefined : this.#options.baseRows.get(draft.id);
      if (draft.document < 0 || base instanceof RowView) {
        changes.push({ document: entry.document, before: base instanceof RowView ? base : undefined, after: written });
      }
      rows.push(draft.row);
      if (draft.row === undefined) {
        batch.push({ type: "del", key });
        ids?.remove(entry.rawId);
      } else {
        stampPlace(draft.row, entry.document, previousSequence + entries.length, epoch);
        batch.push({ type: "put", key, value: draft.row });
        // What was lost with its id is among those that are expected: this brings it back.
        if (draft.document < 0 && !(this.#options.baseRows.get(draft.id) instanceof ShoalError)) ids?.add(entry.rawId);
      }
    }
    if (entries.length === 0) return undefined;
    const lastSequence = previousSequence + entries.length;
    batch.push({ type: "put", key: journalKey(lastSequence), value: encodeJournalRecord(entries, epoch) });
    batch.push({ type: "put", key: HEAD_KEY, value: encodeHeadRecord({ sequence: lastSequence, epoch, ids }) });
    const row = (at: number) => (rows[at] === undefined ? undefined : view(rows[at]));
    const vectorBytes = (at: number) => view(rows[at]).vectorBytes;
    const known = changes.length === entries.length ? changes : undefined;
    return {
      entries,
      lastSequence,
      ids,
      row,
      vectorBytes,
      batch,
      changes: known,
      reserved,
      dimensions: this.#dimensions,
    };
  }

  #entry(
    { id, document, creationTimeUnix, created }: ObjectDraft,
    written: RowView | undefined,
    rawId: Uint8Array,
    reserved: number[],
  ): JournalEntry {
    if (written === undefined) return { ...DELETED, rawId, document };
    const base = this.#options.baseRows.get(id);
    const place = document >= 0 ? document : this.#options.table.reserve();
    if (document < 0) reserved.push(place);
    const vectorChanged = !(base instanceof RowView) || !sameVector(base, written);
    return {
      kind: "put",
      rawId,
      document: place,
      creationTimeUnix,
      hasVector: written.hasVector,
      vectorChanged,
      created: created || document < 0,
    };
  }

  /** The object as the earlier changes of this draft left it; an error when it is there and cannot be read. */
  #current(id: ObjectId): RowView | ShoalError | undefined {
    const draft = this.#objects.get(id);
    if (draft !== undefined) return draft.row === undefined ? undefined : view(draft.row);
    const base = this.#options.baseRows.get(id);
    if (base !== undefined || this.#options.table.find(id) < 0) return base;
    return new DamagedBaseRow(`row of object '${id}' is missing`);
  }

  #isLostWithItsId(id: ObjectId): boolean {
    const { table, baseRows } = this.#options;
    return !this.#objects.has(id) && table.find(id) < 0 && baseRows.get(id) instanceof ShoalError;
  }

  #draft(id: ObjectId): ObjectDraft {
    let draft = this.#objects.get(id);
    if (draft === undefined) {
      const { table } = this.#options;
      const document = table.find(id);
      const creationTimeUnix = document < 0 ? 0 : table.creationTime(document);
      draft = { id, document, row: undefined, creationTimeUnix, created: false };
      this.#objects.set(id, draft);
    }
    return draft;
  }

  #checkDimensions(id: ObjectId, dimensions: number): ShoalError | undefined {
    if (dimensions === 0) return undefined;
    this.#dimensions ??= dimensions;
    if (dimensions === this.#dimensions) return undefined;
    return new ShoalError(
      "invalid",
      `vector of object '${id}' does not fit class '${this.#options.className}': ` +
        CLIENT_PHRASES.vectorLengths(dimensions, this.#dimensions),
    );
  }
}

/** Of an entry that deletes. */
export const DELETED = {
  kind: "delete",
  creationTimeUnix: 0,
  hasVector: false,
  vectorChanged: true,
  created: false,
} as const;

function notFound(id: ObjectId): ShoalError {
  return new ShoalError("notFound", `no object with id '${id}'`);
}

function timesOf(row: RowView | ShoalError): PutTimes | ShoalError {
  if (row instanceof ShoalError) return row;
  const { creationTimeUnix, lastUpdateTimeUnix } = row;
  return { creationTimeUnix, lastUpdateTimeUnix };
}

export function sameVector(before: RowView, after: RowView): boolean {
  return before.hasVector === after.hasVector && Buffer.compare(before.vectorBytes, after.vectorBytes) === 0;
}

function mergedRow(before: RowView, merge: PreparedMerge, bytesMax: number): Buffer | ShoalError {
  try {
    return mergeRow(before, merge, bytesMax);
  } catch (thrown) {
    return ShoalError.from(thrown);
  }
}

/** Rows in a draft were encoded here: they can be read. */
function view(row: Buffer | undefined): RowView {
  const readable = row === undefined ? undefined : RowView.of(row);
  if (readable === undefined) throw new ShoalError("internal", "a row of a commit cannot be read");
  return readable;
}
