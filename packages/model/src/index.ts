export { type ErrorCode, ShoalError, type ShoalErrorOptions } from "./errors/shoal-error.js";
export { type DataObject, decodeProperties, type Properties, type StoredObject } from "./objects/data-object.js";
export type { Json, JsonObject } from "./objects/json.js";
export { JsonNumber } from "./objects/json-number.js";
export {
  OBJECT_ID_BYTES,
  type ObjectId,
  objectIdFromBytes,
  objectIdToBytes,
  parseObjectId,
  writeObjectId,
} from "./objects/object-id.js";
export { plainJson, plainJsonObject } from "./objects/plain-json.js";
export { isUncheckedObject, typeName, type UncheckedObject } from "./objects/value-wording.js";
export {
  type ClassDefinition,
  type InvertedIndexConfig,
  PRIMITIVE_DATA_TYPES,
  type PrimitiveDataType,
  type PropertyDefinition,
  type ShardingConfig,
  type VectorIndexConfig,
} from "./schema/class-definition.js";
export { isClassName, normaliseClassName, normalisePropertyName } from "./schema/class-names.js";
export { isReferenceDataType, primitiveDataType } from "./schema/data-type.js";
export { type ModuleClassRules, NO_MODULES } from "./schema/module-class-rules.js";
export { type ClassSettings, checkNewClass, parseClass } from "./schema/parse-class.js";
export { checkNewProperty, parseProperty } from "./schema/parse-property.js";
export type { GetQuery, NearObject, NearVector, RowFields, VectorHit } from "./search/get-query.js";
export { SPEC_PROFILE, WEAVIATE_PROFILE, type WireProfile, wireProfile } from "./wire-profile.js";
