export type { RequestContext } from "./request-context.js";
export type { ClassRecord, SchemaService, SchemaSnapshot } from "./schema-service.js";
export type {
  ObjectListing,
  ObjectMerge,
  PutMode,
  PutTimes,
  ShardAddress,
  ShardService,
  ShardStatus,
  VectorSearch,
  VectorSearchHit,
} from "./shard-service.js";
