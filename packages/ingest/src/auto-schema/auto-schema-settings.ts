import type { ClassSettings, SchemaLimits } from "@shoal/model";
import type { SchemaService } from "@shoal/rpc";
import type { AutoSchemaTypes } from "./infer-data-type.js";

/** What auto-schema stands on. */
export interface AutoSchemaSettings {
  readonly types: AutoSchemaTypes;
  readonly schemaService: Pick<SchemaService, "current" | "ensureClass" | "ensureProperties">;
  /** Defaults of new classes, as they are now. */
  readonly classSettings: () => ClassSettings;
  /** Those of the coordinator, so that an object beyond them takes no other one with it. */
  readonly schemaLimits: SchemaLimits;
}
