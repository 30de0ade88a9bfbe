export type { AutoSchemaSettings, MadeByAutoSchema } from "./auto-schema/auto-schema-settings.js";
export { parseBodyId } from "./check-object.js";
export { INGEST_LIMITS, type IngestLimits, type IngestOptions } from "./ingest-parts.js";
export type {
  BatchOutcome,
  IngestService,
  ObjectInput,
  ReferenceInput,
  ReferenceOutcome,
  WrittenObject,
} from "./ingest-service.js";
export { ObjectIngest } from "./object-ingest.js";
