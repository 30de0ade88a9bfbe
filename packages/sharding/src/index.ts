export type { PhysicalShard, ShardingState, VirtualShard } from "./sharding-state.js";
