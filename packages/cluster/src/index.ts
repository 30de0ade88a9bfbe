export type { SchemaView } from "./schema-view.js";
export type { ShardRouter } from "./shard-router.js";
