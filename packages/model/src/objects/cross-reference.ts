import { ShoalError } from "../errors/shoal-error.js";
import { withPrefix } from "../errors/with-prefix.js";
import { type BeaconScheme, LOCAL_HOST, parseShortBeacon, writeShortBeacon } from "./beacon.js";
import type { Json, JsonObject } from "./json.js";
import type { ObjectId } from "./object-id.js";
import { isUncheckedObject, printTypedValue, typeName, type UncheckedObject } from "./value-wording.js";

/** Where a reference stands, for messages. */
export interface ReferencePlace {
  readonly className: string;
  readonly property: string;
}

const ONLY_DIRECT = "only direct references supported at the moment, concept references not supported yet:";

/**
 * The value of a reference property in its stored form: a list of `{beacon}` in the given scheme, `href` dropped,
 * duplicates kept. Fails with `invalid` (texts: reference-rest 3.6). Whether the targets exist is another question.
 */
export function parseReferences(value: unknown, place: ReferencePlace, scheme: BeaconScheme): readonly JsonObject[] {
  if (isUncheckedObject(value)) {
    throw refused(`reference must be an array, but got a map: ${printTypedValue(value)}`);
  }
  if (!Array.isArray(value)) throw refused(`invalid ref type. Needs to be []map, got ${typeName(value)}`);
  return value.map((item: unknown) => {
    if (isUncheckedObject(item)) return parseReference(item, place, scheme);
    throw refused(
      `Multiple references in ${place.className}.${place.property} should be a list of maps, but we got: ${typeName(item)}`,
    );
  });
}

/** The ids that a stored reference list points to, in its order. */
export function targetsOfReferences(value: Json | undefined): readonly ObjectId[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly JsonObject[]).map((reference) => parseShortBeacon(String(reference.beacon)).id);
}

/**
 * A stored reference list without the first reference to each of `targets`, one for every time that a target is named.
 * What counts is the object, not the scheme of its beacon. Anything that is no list is an empty one.
 */
export function withoutReferences(value: Json | undefined, targets: readonly ObjectId[]): readonly Json[] {
  if (!Array.isArray(value)) return [];
  const left = new Map<ObjectId | undefined, number>();
  for (const target of targets) left.set(target, 1 + (left.get(target) ?? 0));
  return (value as readonly Json[]).filter((reference) => {
    const [target] = targetsOfReferences([reference]);
    const count = left.get(target) ?? 0;
    if (count > 0) left.set(target, count - 1);
    return count === 0;
  });
}

/** A reference in its stored form. */
export function referenceTo(id: ObjectId, scheme: BeaconScheme): JsonObject {
  return { beacon: writeShortBeacon(scheme, id) };
}

/** The object that a beacon of a client points to. Fails with `invalid` (texts: reference-rest 3.6, 3.7). */
export function parseReferenceTarget(text: string): ObjectId {
  let beacon: ReturnType<typeof parseShortBeacon>;
  try {
    beacon = parseShortBeacon(text);
  } catch (error) {
    throw withPrefix("invalid reference: ", error);
  }
  if (beacon.host === LOCAL_HOST) return beacon.id;
  throw new ShoalError("invalid", "unrecognized cross-ref ref format");
}

/** The error for a reference to an object that no class has. */
export function missingTarget(place: ReferencePlace, id: ObjectId): ShoalError {
  return refused(`'cref' ${place.className}:${place.property}: no object with id ${id} found`);
}

function parseReference(item: UncheckedObject, place: ReferencePlace, scheme: BeaconScheme): JsonObject {
  const { href: _, ...given } = item;
  const keys = Object.keys(given);
  const where = `class '${place.className}' with property '${place.property}'`;
  if (keys.length !== 1) {
    throw refused(
      `${ONLY_DIRECT} ${where} requires exactly 1 arguments: 'beacon'. ` +
        `Check your input schema, got: ${printTypedValue(given)}`,
    );
  }
  if (keys[0] !== "beacon") {
    throw refused(`${ONLY_DIRECT} ${where} requires exactly 1 argument: 'beacon' is missing, check your input schema`);
  }
  const text = given.beacon;
  if (typeof text !== "string") throw refused(`${where}: the beacon must be a string, but got ${typeName(text)}`);
  try {
    return referenceTo(parseReferenceTarget(text), scheme);
  } catch (error) {
    throw withPrefix("invalid cref: ", error);
  }
}

function refused(reason: string): ShoalError {
  return new ShoalError("invalid", `invalid cref: ${reason}`);
}
