import { isVectorMissing, withPrefix } from "@shoal/model";
import { checkContent, checkGivenVector } from "./check-object.js";
import type { IngestParts } from "./ingest-parts.js";
import type { ObjectInput } from "./ingest-service.js";
import { parseBodyId } from "./object-ids.js";

/**
 * The checks of a new object, without writing it: not whether its id is free, and a vector may be left out
 * (reference-rest 3.9, decisions.md). One that is sent must fit.
 */
export function validateObject(parts: IngestParts, input: ObjectInput): void {
  parseBodyId(input.id);
  try {
    const { record } = checkContent(input, parts.schema, parts.profile.beaconScheme);
    if (!isVectorMissing(input.vector)) checkGivenVector(input.vector, record);
  } catch (refusal) {
    throw withPrefix("invalid object: ", refusal);
  }
}
