import { CLIENT_PHRASES, type ObjectId, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { type CheckedObject, checkObject, parseBodyId } from "./check-object.js";
import type { IngestParts } from "./ingest-parts.js";
import type { ObjectInput, WrittenObject } from "./ingest-service.js";
import { NamedObject } from "./named-object.js";
import { dataObject, storeObject } from "./store-object.js";
import { vectorizedObject } from "./vectorize-objects.js";

/**
 * All of an object anew (reference-rest 3.9, decisions.md): its creation time survives, everything else is replaced.
 * The shard itself says when the object is not there; only then, or when the body is refused, are the other
 * classes asked, so that an unknown id and a wrong class are reported before faults of the body.
 */
export async function replaceObject(
  parts: IngestParts,
  id: ObjectId,
  input: ObjectInput,
  context: RequestContext,
): Promise<WrittenObject> {
  if ((parseBodyId(input.id) ?? id) !== id)
    throw new ShoalError("invalid", `invalid update: ${CLIENT_PHRASES.immutable("field 'id'")}`);
  const absent = () => new ShoalError("notFound", `no object with id '${id}'`);
  const named = new NamedObject(parts, id, input, "invalid update: ", absent, context);
  let checked: CheckedObject;
  try {
    checked = await checkObject(id, input, parts, context);
  } catch (refusal) {
    throw await named.absenceOr(refusal);
  }
  const { content, vector } = checked;
  const { record } = content;
  const sent = dataObject(id, content, vector);
  const object = await vectorizedObject(parts, record, sent, context).catch(async (refusal) => {
    throw await named.absenceOr(refusal);
  });
  if (object.vector !== undefined && record.dimensions === undefined) {
    await named.requirePresent();
    await parts.dimensions.hold(record, object.vector.length, context);
  }
  try {
    return await storeObject(parts, record, object, "replace", context);
  } catch (thrown) {
    throw await named.explained(thrown);
  }
}
