import type { KeyValueReader } from "@shoal/kv";
import { objectIdFromBytes } from "@shoal/model";
import type { VectorIndex } from "@shoal/vector-index";
import type { IdTable } from "./id-table.js";
import { type JournalEntry, type JournalRecord, NO_DOCUMENT } from "./journal-record.js";
import { rowKeyOfRawId } from "./key-layout.js";
import { RowView } from "./row.js";
import { scanRows } from "./scan-rows.js";
import type { OnShardEvent } from "./shard-events.js";
import { VectorLoader } from "./vector-loader.js";
import { applyToTable } from "./views.js";

const KEYS_PER_READ = 512;
/** While some of them are taken over, others are read on as many threads. */
const READS_AT_ONCE = 3;
/** Reading one row by key costs about as much as scanning past four. */
const SCAN_WORTH = 4;

/** Applies the changes after `after` to the table, in order. `onFreed` gets the document ids of deleted objects. */
export function replayIntoTable(
  table: IdTable,
  records: readonly JournalRecord[],
  after: number,
  onEntry: (entry: JournalEntry, freed: number | undefined) => void = () => {},
): void {
  for (const entry of entriesAfter(records, after)) onEntry(entry.entry, applyToTable(table, entry.entry));
}

/**
 * Brings the index from `after` to `sequence`; the table is there already. The rows hold the last state only, so what
 * counts is the last entry of each document: its row must be the one that entry wrote. A document whose row cannot be
 * read is left out of the index, marked as lost in the table, and reported.
 */
export async function replayIntoIndex(
  index: VectorIndex,
  table: IdTable,
  records: readonly JournalRecord[],
  after: number,
  sequence: number,
  store: KeyValueReader,
  onEvent: OnShardEvent,
): Promise<void> {
  const { gone, wanted } = netChanges(records, after);
  const loader = new VectorLoader(index, sequence);
  const take = (document: number, row: RowView) => {
    if (row.sequence !== wanted.get(document)?.sequence || row.dimensions !== index.dimensions) return;
    loader.add(document, row.vectorBytes);
    wanted.delete(document);
  };
  if (wanted.size * SCAN_WORTH > table.count) {
    const onRow = (_rawId: Uint8Array, row: RowView) => take(row.document, row);
    await scanRows(store, onRow, () => {});
  } else {
    await readRows(store, [...wanted], take);
  }
  loader.flush();
  for (const [document, { rawId }] of wanted) {
    gone.push(document, markLost(table, rawId));
    const damage = { what: "row", id: objectIdFromBytes(rawId), reason: "it is not what the journal says" } as const;
    onEvent({ type: "damageFound", damage });
  }
  index.remove(Uint32Array.from(gone), sequence);
}

/** A table that was rebuilt from rows may lack an object whose row was not found. Returns its document. */
function markLost(table: IdTable, rawId: Uint8Array): number {
  let document = table.findRaw(rawId);
  if (document < 0) {
    document = table.reserve();
    table.insert(rawId, document, 0);
  }
  table.markLost(document);
  return document;
}

interface WantedRow {
  readonly sequence: number;
  readonly rawId: Uint8Array;
}

/** Documents without a vector, and for those with a new one the row that has it. */
function netChanges(records: readonly JournalRecord[], after: number) {
  const gone = new Set<number>();
  const wanted = new Map<number, WantedRow>();
  for (const { entry, sequence } of entriesAfter(records, after)) {
    const { document, kind, hasVector, vectorChanged, rawId } = entry;
    if (kind === "put" && hasVector) {
      if (vectorChanged || wanted.has(document)) wanted.set(document, { sequence, rawId });
      if (vectorChanged) gone.delete(document);
    } else if (kind === "delete" || vectorChanged) {
      wanted.delete(document);
      gone.add(document);
    }
  }
  return { gone: [...gone], wanted };
}

async function readRows(
  store: KeyValueReader,
  wanted: readonly (readonly [document: number, row: WantedRow])[],
  onRow: (document: number, row: RowView) => void,
): Promise<void> {
  const read = (from: number) => {
    const page = wanted.slice(from, from + KEYS_PER_READ);
    const values = store.getMany(page.map(([, { rawId }]) => rowKeyOfRawId(rawId)));
    // Awaited some pages later: a failure must not go unheard until then.
    values.catch(() => {});
    return { page, values };
  };
  const pages = Array.from({ length: READS_AT_ONCE }, (_, at) => read(at * KEYS_PER_READ));
  for (let from = 0; from < wanted.length; from += KEYS_PER_READ) {
    const next = pages.shift() ?? read(from);
    const { page } = next;
    const values = await next.values;
    pages.push(read(from + READS_AT_ONCE * KEYS_PER_READ));
    for (const [at, [document]] of page.entries()) {
      const value = values[at];
      const row = value === undefined || value instanceof Error ? undefined : RowView.of(value);
      if (row !== undefined) onRow(document, row);
    }
  }
}

function* entriesAfter(records: readonly JournalRecord[], after: number) {
  for (const record of records) {
    for (const [at, entry] of record.entries.entries()) {
      const sequence = record.firstSequence + at;
      if (sequence > after && entry.document !== NO_DOCUMENT) yield { entry, sequence };
    }
  }
}
