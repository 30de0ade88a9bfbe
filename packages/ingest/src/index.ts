export type { BatchOutcome, IngestService, ObjectInput, WrittenObject } from "./ingest-service.js";
