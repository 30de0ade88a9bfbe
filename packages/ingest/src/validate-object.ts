import { isVectorMissing, withPrefix } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { checkContent, checkGivenVector, OBJECT_PREFIX } from "./check-object.js";
import type { IngestParts } from "./ingest-parts.js";
import type { ObjectInput } from "./ingest-service.js";
import { requireTargets } from "./locate-objects.js";
import { parseBodyId } from "./object-ids.js";

/**
 * The checks of a new object, without writing it: not whether its id is free, and a vector may be left out
 * (reference-rest 3.9, decisions.md). One that is sent must fit.
 */
export async function validateObject(parts: IngestParts, input: ObjectInput, context: RequestContext): Promise<void> {
  parseBodyId(input.id);
  try {
    const { record, targets } = checkContent(input, parts.schema, parts.profile.beaconScheme);
    await requireTargets(parts, targets, context);
    const isKept = record.definition.vectorizer === "none";
    if (isKept && !isVectorMissing(input.vector)) checkGivenVector(input.vector, record);
  } catch (refusal) {
    throw withPrefix(OBJECT_PREFIX, refusal);
  }
}
