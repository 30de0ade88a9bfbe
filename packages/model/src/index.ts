export { type ErrorCode, ShoalError, type ShoalErrorOptions } from "./errors/shoal-error.js";
export { type DataObject, decodeProperties, type Properties, type StoredObject } from "./objects/data-object.js";
export type { Json, JsonObject } from "./objects/json.js";
export {
  OBJECT_ID_BYTES,
  type ObjectId,
  objectIdFromBytes,
  objectIdToBytes,
  parseObjectId,
  writeObjectId,
} from "./objects/object-id.js";
export {
  type ClassDefinition,
  type InvertedIndexConfig,
  PRIMITIVE_DATA_TYPES,
  type PrimitiveDataType,
  type PropertyDefinition,
  type ShardingConfig,
  type VectorIndexConfig,
} from "./schema/class-definition.js";
export type { GetQuery, NearObject, NearVector, RowFields, VectorHit } from "./search/get-query.js";
