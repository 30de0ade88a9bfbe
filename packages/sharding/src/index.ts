export { createShardingState, placeShards, type ShardingPlan } from "./create-sharding-state.js";
export { type Hash64, murmur3, murmur3Halves, murmur3Words } from "./murmur3.js";
export type { RandomBytes } from "./random-letters.js";
export { Ring } from "./ring.js";
export type { PhysicalShard, ShardingState, VirtualShard } from "./sharding-state.js";
