import { isDeepStrictEqual } from "node:util";
import {
  decodeProperties,
  isUncheckedObject,
  isVectorMissing,
  type JsonObject,
  type ObjectId,
  type ObjectMerge,
  type Properties,
  type PropertyChanges,
  type PropertyValidator,
  parseVectorWeights,
  propertyValidator,
  ShoalError,
  type StoredObject,
  withPrefix,
} from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { checkGivenVector, classOf, parseBodyId, refuseUnbuiltMembers } from "./check-object.js";
import type { IngestParts } from "./ingest-parts.js";
import type { ObjectInput } from "./ingest-service.js";
import { requireTargets } from "./locate-objects.js";
import { NamedObject } from "./named-object.js";
import { vectorChange } from "./vectorize-objects.js";

const PREFIX = "invalid merge: ";

interface CheckedMerge extends Omit<ObjectMerge, "id"> {
  readonly record: ClassRecord;
}

/**
 * Parts of an object anew (reference-rest 3.9, decisions.md): given properties are replaced, null clears one, reference
 * lists are replaced or appended to as the wire profile says, a vector that is sent replaces the old one; an empty one
 * counts as not sent, as everywhere. What new references point to must exist. The body's id must be a uuid (reference-rest
 * 3.8) and counts for nothing otherwise; so do `vectorWeights` and `additional`, which only a complete object carries.
 */
export async function mergeObject(
  parts: IngestParts,
  id: ObjectId,
  input: ObjectInput,
  context: RequestContext,
): Promise<void> {
  parseBodyId(input.id);
  if (input.className === undefined || input.className === "") {
    throw new ShoalError("invalid", `${PREFIX}class is a required (and immutable) field`);
  }
  const absent = () => new ShoalError("invalid", `${PREFIX}object with id '${id}' does not exist`);
  const named = new NamedObject(parts, id, input, PREFIX, absent, context);
  let checked: CheckedMerge;
  try {
    checked = await checkMerge(parts, id, input, context);
  } catch (refusal) {
    throw await named.absenceOr(withPrefix(PREFIX, refusal));
  }
  const { record, ...sent } = checked;
  const { properties, ...change } = await mergedVector(parts, id, checked, context);
  const merge = { ...sent, ...change };
  if (merge.vector !== undefined && record.dimensions === undefined) {
    await named.requirePresent();
    await parts.dimensions.hold(record, merge.vector.length, context);
  }
  let merged: StoredObject;
  try {
    const shard = parts.router.shardOf(record, id);
    merged = await parts.router.node(shard).mergeObject(shard, { id, ...merge }, context);
  } catch (thrown) {
    throw await named.explained(thrown);
  }
  if (record.definition.vectorizer !== "none") await settleVector(parts, record, merged, properties, context);
}

async function checkMerge(
  parts: IngestParts,
  id: ObjectId,
  input: ObjectInput,
  context: RequestContext,
): Promise<CheckedMerge> {
  const record = classOf(input, parts.schema);
  refuseUnbuiltMembers(input);
  parseVectorWeights(input.vectorWeights);
  const validator = propertyValidator(record.definition, parts.profile.beaconScheme);
  const changes = validator.parseChanges(input.properties);
  await requireTargets(parts, validator.referenceTargets(changes.set), context, { record, id });
  const isSent = record.definition.vectorizer === "none" && !isVectorMissing(input.vector);
  const vector = isSent ? checkGivenVector(input.vector, record) : undefined;
  const split = parts.profile.patchReferences === "append" ? splitReferences(validator, changes) : undefined;
  const { set, append } = split ?? { set: changes.set, append: {} };
  return { record, set, clear: changes.clear, append, remove: {}, vector };
}

interface MergedVector extends Pick<ObjectMerge, "vector" | "additional"> {
  /** What the vectorizer made it of. */
  readonly properties?: Properties;
}

/**
 * The vector that was sent, or, of a class with a vectorizer, that of the object as it will be unless others change it
 * meanwhile, with what is stored beside it. An object that is not there has none.
 */
async function mergedVector(
  parts: IngestParts,
  id: ObjectId,
  { record, set, clear, append, vector }: CheckedMerge,
  context: RequestContext,
): Promise<MergedVector> {
  if (record.definition.vectorizer === "none") return { vector };
  const shard = parts.router.shardOf(record, id);
  const [stored] = await parts.router.node(shard).getObjects(shard, [id], CONTENT, context);
  if (stored === undefined) return { vector: undefined };
  const kept = Object.entries(decodeProperties(stored)).filter(([name]) => !clear.includes(name));
  const properties: Record<string, Properties[string]> = { ...Object.fromEntries(kept), ...set };
  for (const [name, references] of Object.entries(append)) {
    const before = properties[name];
    properties[name] = [...(Array.isArray(before) ? before : []), ...references];
  }
  return { ...(await vectorChange(parts, record, stored, properties, context)), properties };
}

const CONTENT = { properties: true, vector: false, extras: true } as const;

/** Takes the reference lists out of the changes. */
function splitReferences(validator: PropertyValidator, changes: PropertyChanges): Pick<ObjectMerge, "set" | "append"> {
  const set: Record<string, Properties[string]> = {};
  const append: Record<string, readonly JsonObject[]> = {};
  for (const [name, value] of Object.entries(changes.set)) {
    if (validator.isReference(name)) append[name] = value as readonly JsonObject[];
    else set[name] = value;
  }
  return { set, append };
}

const NOTHING_ELSE = { set: {}, clear: [], append: {}, remove: {} } as const;

/**
 * Gives an object the vector of what it says after a merge, and what is stored beside that. `expected` is what the vector
 * that was stored is made of: what others merge at the same time is not in it. Whoever stores a vector learns by the result what the object said then, and
 * stores another one if that is something else; so the last one knows all.
 */
async function settleVector(
  parts: IngestParts,
  record: ClassRecord,
  merged: StoredObject,
  expected: Properties | undefined,
  context: RequestContext,
): Promise<void> {
  const { id } = merged;
  const shard = parts.router.shardOf(record, id);
  let made = expected;
  for (let stored = merged; ; ) {
    const properties = decodeProperties(stored);
    if (isDeepStrictEqual(properties, made)) return;
    const change = await vectorChange(parts, record, stored, properties, context);
    if (isDeepStrictEqual(change.vector, stored.vector) && isStored(change.additional, stored)) return;
    made = properties;
    try {
      stored = await parts.router.node(shard).mergeObject(shard, { id, ...NOTHING_ELSE, ...change }, context);
    } catch (thrown) {
      // Somebody has deleted it since; it was merged before.
      if (thrown instanceof ShoalError && thrown.code === "notFound") return;
      throw thrown;
    }
  }
}

function isStored(additional: JsonObject | undefined, { extras }: StoredObject): boolean {
  const there = isUncheckedObject(extras?.additional) ? extras.additional : {};
  return Object.entries(additional ?? {}).every(([name, value]) => isDeepStrictEqual(there[name], value));
}
