export type { AutoSchemaSettings, MadeByAutoSchema } from "./auto-schema/auto-schema-settings.js";
export { INGEST_LIMITS, type IngestLimits, type IngestParts } from "./ingest-parts.js";
export type {
  BatchOutcome,
  IngestService,
  ObjectInput,
  ReferenceInput,
  ReferenceOutcome,
  WrittenObject,
} from "./ingest-service.js";
export { parseBodyId } from "./object-ids.js";
export { ObjectIngest } from "./object-ingest.js";
export { ReplanningIngest } from "./replanning-ingest.js";
