import { findHoldersOf, type Holders } from "@shoal/cluster";
import { type ObjectId, withPrefix } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { admitObject, concernsAutoSchema } from "./auto-schema/admit-objects.js";
import { type CheckedObject, checkObjectContent, checkVector, OBJECT_PREFIX, parseBodyId } from "./check-object.js";
import type { IngestParts } from "./ingest-parts.js";
import type { ObjectInput, WrittenObject } from "./ingest-service.js";
import { holdersOf, locateObjects, targetFault } from "./locate-objects.js";
import { alreadyExists, dataObject, freshId, storeObject } from "./store-object.js";
import { vectorizedObject } from "./vectorize-objects.js";

/**
 * A new object (reference-rest 3.9). An id that the client gave must be free in every class: the object's own shard sees
 * to that itself, the others are asked, and their silence refuses nothing. Refusals come in the order of the reference, a
 * taken id before anything else.
 */
export async function createObject(
  parts: IngestParts,
  input: ObjectInput,
  context: RequestContext,
): Promise<WrittenObject> {
  const given = parseBodyId(input.id);
  let checked: CheckedObject;
  try {
    checked = await checkNewObject(parts, given, input, context);
  } catch (refusal) {
    checked = await admitRefused(parts, given, input, refusal, context);
  }
  const { content, vector } = checked;
  const { record } = content;
  const sent = dataObject(given ?? reachedId(parts, record), content, vector);
  const object = record.definition.vectorizer === "none" ? sent : await vectorizedObject(parts, record, sent, context);
  // Against a length that is known, the vector has been checked.
  if (object.vector !== undefined && record.dimensions === undefined) {
    await parts.dimensions.hold(record, object.vector.length, context);
  }
  return storeObject(parts, record, object, "create", context, input.id);
}

/** With two of three nodes lost, one id in 400,000 is drawn so often in vain. */
const DRAWS_MAX = 32;

/** A fresh id, of a shard whose node is not lost while that can be had. */
function reachedId({ router, newId }: IngestParts, record: ClassRecord): ObjectId {
  let id = freshId(newId);
  for (let draw = 1; draw < DRAWS_MAX && router.isLost(router.shardOf(record, id)); draw++) id = freshId(newId);
  return id;
}

/** Everything but what the own shard says: one request a node for the id and for all that the object refers to. */
async function checkNewObject(
  parts: IngestParts,
  given: ObjectId | undefined,
  input: ObjectInput,
  context: RequestContext,
): Promise<CheckedObject> {
  const content = checkObjectContent(input, parts.schema, parts.profile.beaconScheme);
  const { record, targets } = content;
  const askedId = given !== undefined && isAskedFor(parts, record) ? given : undefined;
  if (askedId !== undefined || targets.length > 0) {
    const ids = targets.map(({ id }) => id);
    const own = askedId === undefined ? undefined : { id: askedId, record };
    const located = await locateObjects(parts, own === undefined ? ids : [own.id, ...ids], context, own);
    if (askedId !== undefined) requireFree(holdersOf(located, askedId), input.id ?? askedId);
    const fault = targetFault(targets, located);
    if (fault !== undefined) throw withPrefix(OBJECT_PREFIX, fault);
  }
  return { content, vector: checkVector(input, record) };
}

/** The own shard refuses a taken id by itself, unless the length of its vectors would be fixed before it is asked. */
function isAskedFor({ schema }: IngestParts, { dimensions }: ClassRecord): boolean {
  return dimensions === undefined || schema.snapshot.classes.length > 1;
}

function requireFree({ holding, failure }: Holders, id: string): void {
  if (holding.length > 0) throw alreadyExists(id);
  if (failure !== undefined) throw failure;
}

/**
 * What is to be done about an object that was refused: a taken id is reported before anything else, as far as that can be
 * found out; else auto-schema may take it. Fails with the refusal when there is nothing for it to do.
 */
async function admitRefused(
  parts: IngestParts,
  given: ObjectId | undefined,
  input: ObjectInput,
  refusal: unknown,
  context: RequestContext,
): Promise<CheckedObject> {
  const isAdmitted = parts.autoSchema !== undefined && concernsAutoSchema(input, parts);
  if (given !== undefined) {
    // What is refused in any case waits for nobody.
    const record = isAdmitted ? parts.schema.classRecord(input.className ?? "") : undefined;
    const own = { id: given, record };
    const { holding, failure } = await findHoldersOf(parts.router, parts.schema.snapshot, given, context, own);
    requireFree({ holding, failure: record === undefined ? undefined : failure }, input.id ?? given);
  }
  if (!isAdmitted) throw refusal;
  return admitObject(parts, parts.autoSchema, input, context);
}
