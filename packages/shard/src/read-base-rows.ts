import type { KeyValueReader } from "@shoal/kv";
import { type ObjectId, ShoalError } from "@shoal/model";
import type { BaseRow } from "./commit-draft.js";
import { DamagedBaseRow } from "./damaged-base-row.js";
import type { IdTable } from "./id-table.js";
import { rowKey } from "./key-layout.js";
import type { PendingWrite } from "./pending-write.js";
import { RowView } from "./row.js";

export interface BaseRowSource {
  readonly store: KeyValueReader;
  readonly table: IdTable;
  /** The row of a document without its vector, when it is at hand. */
  readonly cachedRow: (document: number) => RowView | undefined;
  /** Names the shard in messages. */
  readonly place: string;
}

/** The stored rows of all objects that a group of writes changes, in at most one read of the store. */
export function readBaseRows(
  source: BaseRowSource,
  group: readonly Pick<PendingWrite, "baseIds" | "removedIds">[],
): ReadonlyMap<ObjectId, BaseRow> | Promise<ReadonlyMap<ObjectId, BaseRow>> {
  const { table, cachedRow } = source;
  const rows = new Map<ObjectId, BaseRow>();
  const wanted = new Set<ObjectId>();
  for (const write of group) {
    for (const id of write.baseIds) if (table.doubtful || table.find(id) >= 0) wanted.add(id);
  }
  for (const write of group) {
    for (const id of write.removedIds) {
      const document = table.find(id);
      if (wanted.has(id) || (document < 0 && !table.doubtful)) continue;
      const cached = document < 0 ? undefined : cachedRow(document);
      if (cached === undefined) wanted.add(id);
      else rows.set(id, cached);
    }
  }
  return wanted.size === 0 ? rows : read(source, wanted, rows);
}

async function read(
  { store, table, place }: BaseRowSource,
  ids: ReadonlySet<ObjectId>,
  rows: Map<ObjectId, BaseRow>,
): Promise<ReadonlyMap<ObjectId, BaseRow>> {
  const values = await store.getMany(Array.from(ids, rowKey));
  let at = 0;
  for (const id of ids) {
    const value = values[at++];
    if (value instanceof ShoalError && value.code !== "dataLoss") throw value;
    const isKnown = table.find(id) >= 0;
    if (value !== undefined || isKnown) rows.set(id, baseRow(id, value, isKnown, place));
  }
  return rows;
}

function baseRow(id: ObjectId, value: Uint8Array | Error | undefined, isKnown: boolean, place: string): BaseRow {
  const row = value === undefined || value instanceof Error ? undefined : RowView.of(value);
  if (row !== undefined && isKnown) return row;
  const reason =
    value instanceof Error ? value.message : value === undefined ? "its row is missing" : "its row cannot be used";
  return new DamagedBaseRow(`object '${id}' of ${place} is damaged: ${reason}`, value);
}
