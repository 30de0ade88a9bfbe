export type { RequestContext } from "./request-context.js";
export type { ClassRecord, SchemaService, SchemaSnapshot } from "./schema-service.js";
export type { FoundObjects, ShardAddress, ShardService, ShardStatus } from "./shard-service.js";
