import { ShoalError, withPrefix } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { type CheckedObject, OBJECT_PREFIX } from "../check-object.js";
import type { IngestParts } from "../ingest-parts.js";
import type { ObjectInput } from "../ingest-service.js";
import { admitObjects, isRefusal } from "./admit-objects.js";
import type { AutoSchemaSettings } from "./auto-schema-settings.js";

/** `admitObjects` for one object; what is refused fails as a new object does. */
export async function admitObject(
  parts: IngestParts,
  settings: AutoSchemaSettings,
  input: ObjectInput,
  context: RequestContext,
): Promise<CheckedObject> {
  const [outcome] = await admitObjects(parts, settings, [input], () => undefined, context);
  if (outcome === undefined) throw new ShoalError("internal", "auto-schema gave no outcome");
  if (!isRefusal(outcome)) return outcome;
  const { error, fault } = outcome;
  throw fault === "vector" || error.code !== "invalid" ? error : withPrefix(OBJECT_PREFIX, error);
}
