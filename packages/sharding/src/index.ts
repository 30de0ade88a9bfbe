export { createShardingState } from "./create-sharding-state.js";
export { Ring } from "./ring.js";
export type { PhysicalShard, ShardingState } from "./sharding-state.js";
