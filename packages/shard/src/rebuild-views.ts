import type { KeyValueReader } from "@shoal/kv";
import { type ObjectId, objectIdFromBytes, objectIdToBytes, ShoalError } from "@shoal/model";
import type { VectorIndex } from "@shoal/vector-index";
import { IdTable } from "./id-table.js";
import { rowKey } from "./key-layout.js";
import { scanRows } from "./scan-rows.js";
import type { OnShardEvent } from "./shard-events.js";
import { VectorLoader } from "./vector-loader.js";

const KEYS_PER_READ = 512;

export interface Rebuild {
  readonly store: KeyValueReader;
  /** Absent: the table is rebuilt too. */
  readonly table: IdTable | undefined;
  /** Empty; its sequence is 0 until it is whole. Absent: the index is intact, or there is none. */
  readonly index: VectorIndex | undefined;
  /** What the views have reached afterwards, if no row is newer. */
  readonly sequence: number;
  readonly hashSeed: number;
  /** A table of some earlier time: names objects whose rows are damaged. */
  readonly earlier: IdTable | undefined;
  /** The store has less than it had at that time: what the earlier table has and no row is there of is lost. */
  readonly hasLostChanges: boolean;
  readonly onEvent: OnShardEvent;
  /** Called between two reads of rows; ends it when it fails. */
  readonly pace?: () => Promise<void>;
}

export interface Rebuilt {
  readonly table: IdTable;
  readonly sequence: number;
  /** Documents of objects whose rows are lost: they must not be in the index. */
  readonly lost: readonly number[];
  /** Some rows could not be read: there may be objects whose ids are not known. */
  readonly damaged: boolean;
}

type Report = (id: ObjectId | undefined, reason: string) => void;

/**
 * Builds views from one pass over all rows. The id of a damaged or missing row goes to the table with creation time 0:
 * the object exists, reading it fails with `dataLoss`, and writing or deleting it heals it.
 */
export async function rebuildViews(rebuild: Rebuild): Promise<Rebuilt> {
  const { store, index, onEvent } = rebuild;
  const table = rebuild.table ?? new IdTable(rebuild.hashSeed);
  const loader = index === undefined ? undefined : new VectorLoader(index, 0);
  const seen = new Uint8Array(rebuild.table?.documentLimit ?? 0);
  const reported = new Set<ObjectId>();
  let sequence = rebuild.sequence;
  let damaged = false;
  const report: Report = (id, reason) => {
    if (id !== undefined && reported.has(id)) return;
    onEvent({ type: "damageFound", damage: { what: "row", id, reason } });
    if (id !== undefined) reported.add(id);
  };
  await scanRows(
    store,
    (rawId, row) => {
      if (rebuild.table === undefined) table.insertUnsorted(rawId, row.document, row.creationTimeUnix);
      const document = table.findRaw(rawId);
      seen[document] = 1;
      sequence = Math.max(sequence, row.sequence);
      if (document < 0) report(objectIdFromBytes(rawId), "the id table lacks it");
      else if (row.hasVector && row.dimensions === index?.dimensions) loader?.add(document, row.vectorBytes);
    },
    (rawId) => {
      damaged = true;
      report(rawId && objectIdFromBytes(rawId), "its record is damaged");
    },
    rebuild.pace,
  );
  loader?.flush();
  index?.remove(new Uint32Array(0), sequence);
  if (rebuild.table !== undefined) return { table, sequence, damaged, lost: markUnseen(table, seen, report) };
  const lostIds = await findLost(rebuild, table, reported, damaged, report);
  return { table, sequence, damaged, lost: addLost(table, lostIds) };
}

/**
 * The lost objects whose ids are known: from a damaged record, or from the earlier table. What the store knows not to
 * have was never there, or has been deleted since; a get meets every damaged block that may have the key.
 */
async function findLost(
  { store, earlier, hasLostChanges }: Rebuild,
  table: IdTable,
  fromRecords: ReadonlySet<ObjectId>,
  damaged: boolean,
  report: Report,
): Promise<readonly ObjectId[]> {
  const ids = new Set(fromRecords);
  if (earlier !== undefined && (damaged || hasLostChanges)) {
    for (const document of earlier.newestFirst()) {
      const rawId = earlier.rawIdOf(document);
      if (table.findRaw(rawId) < 0) ids.add(objectIdFromBytes(rawId));
    }
  }
  const missing = [...ids].filter((id) => table.find(id) < 0);
  const lost: ObjectId[] = [];
  for (let from = 0; from < missing.length; from += KEYS_PER_READ) {
    const page = missing.slice(from, from + KEYS_PER_READ);
    const values = await store.getMany(page.map(rowKey));
    for (const [at, id] of page.entries()) {
      const value = values[at];
      if (value instanceof Error && ShoalError.from(value).code !== "dataLoss") throw value;
      if (value === undefined && !(hasLostChanges && (earlier?.find(id) ?? -1) >= 0)) continue;
      report(id, value === undefined ? "its record is gone" : "its record is damaged");
      lost.push(id);
    }
  }
  return lost;
}

function addLost(table: IdTable, ids: readonly ObjectId[]): number[] {
  table.adoptFreeDocuments();
  const lost: number[] = [];
  for (const id of ids) {
    const document = table.reserve();
    table.insertUnsorted(objectIdToBytes(id), document, 0);
    lost.push(document);
  }
  table.sortByCreationTime();
  return lost;
}

/** The objects of a table that no row was found for. */
function markUnseen(table: IdTable, seen: Uint8Array, report: Report): number[] {
  const lost = Array.from(table.newestFirst()).filter((document) => seen[document] !== 1);
  for (const document of lost) {
    report(table.idOf(document), "its record is gone");
    table.markLost(document);
  }
  return lost;
}
