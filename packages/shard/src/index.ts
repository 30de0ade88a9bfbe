export type { GraphPieces } from "./copied-graph.js";
export type { CopyStore } from "./copy-store.js";
export { DamagedBaseRow } from "./damaged-base-row.js";
export { IdPresenceFilter } from "./id-presence-filter.js";
export { checkRoomForShards, memoryOf, memoryUse, type ShortNode } from "./memory-admission.js";
export { openShard } from "./open-shard.js";
export type { CommitCarrier, CopyOptions } from "./own-copy.js";
export { rowReadGate } from "./read-rows.js";
export { repairShard, type SalvagedRows, type SomeIds } from "./repair-shard.js";
export { RowCacheBudget } from "./row-cache-budget.js";
export type { RowCursor, RowSelection } from "./row-cursor.js";
export type {
  RoomBounds,
  Shard,
  ShardSettings,
} from "./shard.js";
export type { ShardEvent } from "./shard-events.js";
export type { VectorIndexes } from "./vector-indexes.js";
