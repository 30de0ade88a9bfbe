import { findHolders, type Holders } from "@shoal/cluster";
import { type ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord, RequestContext } from "@shoal/rpc";
import { type CheckedObject, checkObject } from "./check-object.js";
import type { ClassDimensions } from "./class-dimensions.js";
import type { IngestParts } from "./ingest-parts.js";
import type { ObjectInput, WrittenObject } from "./ingest-service.js";
import { freshId, parseBodyId } from "./object-ids.js";
import { dataObject, storeObject } from "./store-object.js";

/**
 * A new object (reference-rest 3.9). An id that the client gave must be free in every class: the object's own shard sees
 * to that itself, the others are asked. Refusals come in the order of the reference, a taken id before anything else.
 */
export async function createObject(
  parts: IngestParts,
  dimensions: ClassDimensions,
  input: ObjectInput,
  context: RequestContext,
): Promise<WrittenObject> {
  const given = parseBodyId(input.id);
  const { classes } = parts.schema.snapshot;
  let checked: CheckedObject;
  try {
    checked = checkObject(input, parts.schema, parts.profile.beaconScheme);
  } catch (refusal) {
    const isTaken = given !== undefined && (await holdersOf(parts, classes, given, context)).holding.length > 0;
    throw isTaken ? alreadyExists(input.id ?? given) : refusal;
  }
  const { content, vector } = checked;
  const { record } = content;
  if (given !== undefined) {
    // The own shard refuses a taken id by itself, unless the length of its vectors would be fixed before it is asked.
    const asked =
      record.dimensions === undefined ? classes : classes.filter((other) => other.classId !== record.classId);
    await requireFree(parts, asked, given, input, context);
  }
  if (vector !== undefined) await dimensions.hold(record, vector.length, context);
  const object = dataObject(given ?? freshId(parts.newId), content, vector);
  try {
    return await storeObject(parts, record, object, "create", context);
  } catch (thrown) {
    const isTaken = thrown instanceof ShoalError && thrown.message === alreadyExists(object.id).message;
    throw isTaken ? alreadyExists(input.id ?? object.id) : thrown;
  }
}

async function requireFree(
  parts: IngestParts,
  records: readonly ClassRecord[],
  id: ObjectId,
  input: ObjectInput,
  context: RequestContext,
): Promise<void> {
  const { holding, failure } = await holdersOf(parts, records, id, context);
  if (holding.length > 0) throw alreadyExists(input.id ?? id);
  if (failure !== undefined) throw failure;
}

async function holdersOf(
  parts: IngestParts,
  records: readonly ClassRecord[],
  id: ObjectId,
  context: RequestContext,
): Promise<Holders> {
  if (records.length === 0) return { holding: [], failure: undefined };
  return findHolders(parts.router, records, id, context);
}

/** The id as the client typed it. */
function alreadyExists(id: string): ShoalError {
  return new ShoalError("invalid", `id '${id}' already exists`);
}
