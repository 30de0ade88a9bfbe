import type { KeyValueReader } from "@shoal/kv";
import { type ObjectId, objectIdFromBytes, objectIdToBytes } from "@shoal/model";
import type { VectorIndex } from "@shoal/vector-index";
import { IdTable } from "./id-table.js";
import { scanRows } from "./scan-rows.js";
import type { OnShardEvent } from "./shard-events.js";
import { VectorLoader } from "./vector-loader.js";

export interface Rebuild {
  readonly store: KeyValueReader;
  /** Absent: the table is rebuilt too. */
  readonly table: IdTable | undefined;
  /** Empty. Absent: the index is intact, or there is none. */
  readonly index: VectorIndex | undefined;
  /** What the views have reached afterwards, if no row is newer. */
  readonly sequence: number;
  readonly hashSeed: number;
  /** Ids that must be there; those without a row become lost objects. */
  readonly expected: IdTable | undefined;
  readonly onEvent: OnShardEvent;
}

export interface Rebuilt {
  readonly table: IdTable;
  readonly sequence: number;
  /** Documents of objects whose rows are lost: they must not be in the index. */
  readonly lost: readonly number[];
}

/**
 * Builds views from one pass over all rows. The id of a damaged or missing row goes to the table with creation time 0:
 * the object exists, reading it fails with `dataLoss`, and writing or deleting it heals it.
 */
export async function rebuildViews(rebuild: Rebuild): Promise<Rebuilt> {
  const { store, index, onEvent } = rebuild;
  const table = rebuild.table ?? new IdTable(rebuild.hashSeed);
  const loader = index === undefined ? undefined : new VectorLoader(index, rebuild.sequence);
  const seen = new Uint8Array(rebuild.table?.documentLimit ?? 0);
  const lostIds = new Set<ObjectId>();
  let sequence = rebuild.sequence;
  let damaged = false;
  const report = (id: ObjectId | undefined, reason: string) => {
    onEvent({ type: "damageFound", damage: { what: "row", id, reason } });
    if (id !== undefined) lostIds.add(id);
  };
  await scanRows(
    store,
    (rawId, row) => {
      if (rebuild.table === undefined) table.insert(rawId, row.document, row.creationTimeUnix);
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
  );
  loader?.flush();
  index?.remove(new Uint32Array(0), sequence);
  if (rebuild.table !== undefined) return { table, sequence, lost: markUnseen(table, seen, lostIds, report) };
  for (const document of rebuild.expected?.newestFirst() ?? []) {
    const id = rebuild.expected?.idOf(document);
    if (id !== undefined && table.find(id) < 0 && !lostIds.has(id)) report(id, "its record is gone");
  }
  table.doubtful = damaged;
  return { table, sequence, lost: addLost(table, lostIds) };
}

function addLost(table: IdTable, ids: ReadonlySet<ObjectId>): number[] {
  table.adoptFreeDocuments();
  const lost: number[] = [];
  for (const id of ids) {
    if (table.find(id) >= 0) continue;
    const document = table.reserve();
    table.insert(objectIdToBytes(id), document, 0);
    lost.push(document);
  }
  table.sortByCreationTime();
  return lost;
}

/** The objects of a table that no row was found for. */
function markUnseen(
  table: IdTable,
  seen: Uint8Array,
  reported: ReadonlySet<ObjectId>,
  report: (id: ObjectId | undefined, reason: string) => void,
): number[] {
  const lost = Array.from(table.newestFirst()).filter((document) => seen[document] !== 1);
  for (const document of lost) {
    const id = table.idOf(document);
    if (id === undefined || !reported.has(id)) report(id, "its record is gone");
    table.markLost(document);
  }
  return lost;
}
