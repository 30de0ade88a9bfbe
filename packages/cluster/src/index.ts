export { findFirstHolder, findHolders, findHoldersOf, firstHolder, type Holders } from "./find-holders.js";
export { SchemaReplica } from "./schema-replica.js";
export type { SchemaView } from "./schema-view.js";
export { type NodePool, ShardMap } from "./shard-map.js";
export type { ShardRouter } from "./shard-router.js";
