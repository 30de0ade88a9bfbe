export { INGEST_LIMITS, type IngestLimits, type IngestParts } from "./ingest-parts.js";
export type { BatchOutcome, IngestService, ObjectInput, WrittenObject } from "./ingest-service.js";
export { ObjectIngest } from "./object-ingest.js";
