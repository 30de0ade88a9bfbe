import type { ClassSettings, SchemaLimits } from "@shoal/model";
import type { SchemaService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { AutoSchemaTypes } from "./infer-data-type.js";

/** What auto-schema needs. */
export interface AutoSchemaSettings {
  readonly types: AutoSchemaTypes;
  readonly schemaService: Pick<SchemaService, "current" | "ensureClass" | "ensureProperties">;
  /** Defaults of new classes, as they are now. */
  readonly classSettings: () => ClassSettings;
  /** Those of the coordinator, so that an object beyond them takes no other one with it. */
  readonly schemaLimits: SchemaLimits;
  /** Called with what was made for whom, once for each class of a request that brought something new. It must not throw. */
  readonly onMade?: (made: MadeByAutoSchema, context: RequestContext) => void;
}

/** A class or properties that auto-schema has made, which may be due to a slip. */
export interface MadeByAutoSchema {
  readonly className: string;
  readonly isNewClass: boolean;
  /** There was no result that says whether it was made. */
  readonly isUnknown?: true;
  /** The data types of what is new, by name. */
  readonly properties: Readonly<Record<string, string>>;
  /** A class that the new one may have been meant to be. */
  readonly similarClass: string | undefined;
  /** Properties that the class had and that new ones may have been meant to be, by the names of these. */
  readonly similarProperties: Readonly<Record<string, string>>;
}
