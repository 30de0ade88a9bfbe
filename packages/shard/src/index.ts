export { IdPresenceFilter } from "./id-presence-filter.js";
export { checkRoomForShards } from "./memory-admission.js";
export type { CreateInvertedIndex } from "./object-index.js";
export { openShard, type ShardOptions } from "./open-shard.js";
export { rowReadGate } from "./read-rows.js";
export { repairShard, type SalvagedRows, type ShardRepair, type SomeIds } from "./repair-shard.js";
export { RowCacheBudget } from "./row-cache-budget.js";
export type {
  RoomBounds,
  Shard,
  ShardCondition,
  ShardReader,
  ShardSettings,
  ShardStatistics,
  ShardWriter,
} from "./shard.js";
export type { Damage, OnShardEvent, ShardEvent, ViewName } from "./shard-events.js";
export { DEFAULT_SHARD_LIMITS, type ShardLimits } from "./shard-limits.js";
export type { VectorIndexes } from "./vector-indexes.js";
