export type { ClassAction, ClassRights, DataAction, RightsHolder } from "./access/class-rights.js";
export { PATTERN_CHARS_MAX } from "./access/pattern.js";
export {
  ACTIONS,
  type Action,
  everywhere,
  Permission,
  parsePermission,
  RESOURCES,
} from "./access/permission.js";
export { writtenOf } from "./access/permission-index.js";
export { Rights } from "./access/rights.js";
export {
  BUILT_IN_ROLES,
  checkRoleName,
  isGivenBySettings,
  isSamePermission,
  PERMISSIONS_PER_ROLE_MAX,
  parseNewPermissions,
  parsePermissions,
  READ_ONLY_ROLE,
  ROOT_ROLE,
  type Role,
  shownRole,
  tooManyPermissions,
} from "./access/role.js";
export { CLIENT_PHRASES } from "./errors/client-phrases.js";
export { closeName, editDistance, type KnownName, nearestName } from "./errors/nearest-name.js";
export { RequestWarnings } from "./errors/request-warnings.js";
export {
  type ErrorCode,
  ShoalError,
  type ShoalErrorOptions,
  UnavailableHere,
  withPrefix,
} from "./errors/shoal-error.js";
export { type ClassLookup, checkWhere, checkWherePaths, withoutIdAlias } from "./filters/check-where.js";
export { clauseText } from "./filters/clause-text.js";
export { VALUE_FIELDS } from "./filters/parse-filter-value.js";
export { parseWhere } from "./filters/parse-where.js";
export {
  COMBINE_OPERATORS,
  COMPARE_OPERATORS,
  type CombineOperator,
  type ComparedPath,
  type CompareOperator,
  CREATION_TIME_PROPERTY,
  type FilterValue,
  type GeoRange,
  ID_PROPERTY,
  LAST_UPDATE_TIME_PROPERTY,
  type ShardFilter,
  type WhereFilter,
} from "./filters/where-filter.js";
export { DEFAULT_WHERE_LIMITS, type WhereLimits } from "./filters/where-limits.js";
export {
  type BeaconScheme,
  LOCAL_HOST,
  parseLongBeacon,
  parseShortBeacon,
  writeLongBeacon,
  writeShortBeacon,
} from "./objects/beacon.js";
export {
  jsonWithoutReferences,
  missingTarget,
  parseReferences,
  parseReferenceTarget,
  referenceTo,
  targetsOfReferences,
  withoutReferences,
} from "./objects/cross-reference.js";
export { type DataObject, decodeProperties, type Properties, type StoredObject } from "./objects/data-object.js";
export { canonicalDate, dateInstant, type Instant, nanosecondsOf } from "./objects/date-value.js";
export { shortestFloat32 } from "./objects/float32.js";
export type { Json, JsonObject } from "./objects/json.js";
export { isNestedDeeper } from "./objects/json-depth.js";
export { joinJsonMembers, jsonListParts, jsonMember, jsonMembers } from "./objects/json-members.js";
export { int64Of, JsonNumber } from "./objects/json-number.js";
export type { ObjectMerge, PutMode, PutTimes } from "./objects/object-changes.js";
export {
  OBJECT_ID_BYTES,
  type ObjectId,
  objectIdFromBytes,
  objectIdToBytes,
  parseObjectId,
  writeObjectId,
} from "./objects/object-id.js";
export { checkDimensions, isVectorMissing, parseVector } from "./objects/parse-vector.js";
export { plainJsonObject } from "./objects/plain-json.js";
export {
  type PropertyChanges,
  PropertyValidator,
  propertyValidator,
  type ReferenceTarget,
} from "./objects/property-validator.js";
export { eachRun, runsOf } from "./objects/runs-of.js";
export {
  describeValue,
  escapeText,
  isUncheckedObject,
  quoteText,
  type UncheckedObject,
} from "./objects/value-wording.js";
export { parseVectorWeights } from "./objects/vector-weights.js";
export { CLASS_BODY, type ClassSettings } from "./schema/class-body.js";
export {
  type ClassDefinition,
  PRIMITIVE_DATA_TYPES,
  type PrimitiveDataType,
  type PropertyDefinition,
  type VectorIndexConfig,
} from "./schema/class-definition.js";
export {
  checkPropertyName,
  isClassName,
  NAME_CHARS_MAX,
  normaliseClassName,
  normalisePropertyName,
} from "./schema/class-names.js";
export { isReferenceDataType, primitiveDataType } from "./schema/data-type.js";
export { decodeBody, foldMembers, int64, warnOfUnknown } from "./schema/decode-body.js";
export { extendClass } from "./schema/extend-class.js";
export { WHERE_TYPE_SUFFIXES } from "./schema/graphql-names.js";
export { type ModuleClassRules, NO_MODULES } from "./schema/module-class-rules.js";
export { checkNewClass, parseClass } from "./schema/parse-class.js";
export { checkNewProperty, parseProperty } from "./schema/parse-property.js";
export { PROPERTY_BODY } from "./schema/property-body.js";
export {
  checkClassCount,
  checkPropertyCount,
  checkSchemaSize,
  checkShardCount,
  DEFAULT_SCHEMA_LIMITS,
  DESCRIPTION_CHARS_MAX,
  PROPERTIES_PER_CLASS_CAP,
  SCHEMA_CHARS_MAX,
  type SchemaLimits,
  type ShardLimit,
} from "./schema/schema-limits.js";
export { shownClass, shownProperty, withFactor } from "./schema/shown-class.js";
export { FACTOR_MAX } from "./schema/unbuilt-members.js";
export { isUnbuiltModule } from "./schema/unbuilt-modules.js";
export { type IsShown, NONE_SHOWN, unknownClass, unknownProperty } from "./schema/unknown-names.js";
export { updateClass } from "./schema/update-class.js";
export { TARGET_RECALL_DEFAULT, VECTOR_INDEX_LIMITS } from "./schema/vector-index-config.js";
export {
  aggregateTooLarge,
  bytesOfAggregate,
  bytesOfText,
  DISTINCT_NUMBER_BYTES,
  GROUP_BYTES,
  GROUP_PROPERTY_BYTES,
} from "./search/aggregate-bytes.js";
export { aggregatedKind, isGroupable } from "./search/aggregated-kind.js";
export {
  AGGREGATE_GROUPS_DEFAULT,
  type AggregatedProperty,
  type AggregateGroup,
  type AggregateQuery,
  type DatesAggregate,
  type NumbersAggregate,
  type PropertyAggregate,
  type TextsAggregate,
} from "./search/aggregation.js";
export { ExactSum } from "./search/exact-sum.js";
export { EXPLORE_ROWS_DEFAULT, type ExploreQuery } from "./search/explore-query.js";
export { FirstEntries } from "./search/first-entries.js";
export type {
  GetQuery,
  Grouping,
  NearObject,
  NearVector,
  ReferenceSelection,
  ReferenceTargetSelection,
  RowFields,
} from "./search/get-query.js";
export { groupText } from "./search/group-text.js";
export type { MeasuredRecall } from "./search/measured-recall.js";
export type { AdditionalRequest, ModuleSearch } from "./search/module-search.js";
export type { ObjectListing } from "./search/object-listing.js";
export type {
  DistinctNumbers,
  GroupPart,
  PropertyPart,
  ShardAggregate,
  ShardAggregation,
} from "./search/shard-aggregation.js";
export { compareUtf8 } from "./search/utf8-order.js";
export type { VectorSearch, VectorSearchHit } from "./search/vector-search.js";
export { SPEC_PROFILE, WEAVIATE_PROFILE, type WireProfile, wireProfile } from "./wire-profile.js";
