import type { KeyValueReader } from "@shoal/kv";
import type { ObjectId } from "@shoal/model";
import type { VectorIndex } from "@shoal/vector-index";
import type { IdTable } from "./id-table.js";
import type { JournalEntry, JournalRecord } from "./journal-record.js";
import { rowKey } from "./key-layout.js";
import { RowView } from "./row.js";
import { scanRows } from "./scan-rows.js";
import type { OnShardEvent } from "./shard-events.js";
import { VectorLoader } from "./vector-loader.js";
import { applyToTable } from "./views.js";

const KEYS_PER_READ = 512;
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
 * Brings the index from `after` to `sequence`. The rows hold the last state only, so what counts is the last entry of
 * each document: its row must be the one that entry wrote. A row that cannot be read leaves its document out of the
 * index and is reported.
 */
export async function replayIntoIndex(
  index: VectorIndex,
  records: readonly JournalRecord[],
  after: number,
  sequence: number,
  store: KeyValueReader,
  objectCount: number,
  onEvent: OnShardEvent,
): Promise<void> {
  const last = new Map<number, { entry: JournalEntry; sequence: number; vectorChanged: boolean }>();
  for (const { entry, sequence } of entriesAfter(records, after)) {
    const vectorChanged = entry.vectorChanged || (last.get(entry.document)?.vectorChanged ?? false);
    last.set(entry.document, { entry, sequence, vectorChanged });
  }
  const gone: number[] = [];
  const wanted = new Map<ObjectId, { document: number; sequence: number }>();
  for (const [document, { entry, sequence, vectorChanged }] of last) {
    if (entry.kind === "delete" || (vectorChanged && !entry.hasVector)) gone.push(document);
    else if (vectorChanged) wanted.set(entry.id, { document, sequence });
  }
  const loader = new VectorLoader(index, sequence);
  const take = (id: ObjectId, row: RowView) => {
    const want = wanted.get(id);
    if (want === undefined || row.sequence !== want.sequence || row.dimensions !== index.dimensions) return;
    loader.add(want.document, row.vectorBytes);
    wanted.delete(id);
  };
  if (wanted.size * SCAN_WORTH > objectCount) await scanRows(store, take, () => {});
  else await readRows(store, [...wanted.keys()], take);
  loader.flush();
  for (const [id, { document }] of wanted) {
    gone.push(document);
    onEvent({ type: "damageFound", damage: { what: "row", id, reason: "it is not what the journal says" } });
  }
  index.remove(Uint32Array.from(gone), sequence);
}

async function readRows(
  store: KeyValueReader,
  ids: readonly ObjectId[],
  onRow: (id: ObjectId, row: RowView) => void,
): Promise<void> {
  for (let from = 0; from < ids.length; from += KEYS_PER_READ) {
    const page = ids.slice(from, from + KEYS_PER_READ);
    const values = await store.getMany(page.map(rowKey));
    for (const [at, id] of page.entries()) {
      const value = values[at];
      const row = value === undefined || value instanceof Error ? undefined : RowView.of(value);
      if (row !== undefined) onRow(id, row);
    }
  }
}

function* entriesAfter(records: readonly JournalRecord[], after: number) {
  for (const record of records) {
    for (const [at, entry] of record.entries.entries()) {
      const sequence = record.firstSequence + at;
      if (sequence > after) yield { entry, sequence };
    }
  }
}
