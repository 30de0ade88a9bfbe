import { ShoalError, withPrefix } from "../errors/shoal-error.js";
import { type BeaconScheme, LOCAL_HOST, parseShortBeacon, writeShortBeacon } from "./beacon.js";
import type { Json, JsonObject } from "./json.js";
import { elementEnds } from "./json-members.js";
import type { ObjectId } from "./object-id.js";
import { describeValue, escapeText, isUncheckedObject, type UncheckedObject } from "./value-wording.js";

const BEGINNING = Buffer.from("[");
const COMMA = Buffer.from(",");
const END = Buffer.from("]");

/** Where a reference stands, for messages. */
export interface ReferencePlace {
  readonly className: string;
  readonly property: string;
}

/** Of the members that a reference must not have so many are named, with so many characters each. */
const MEMBERS_NAMED_MAX = 5;
const MEMBER_CHARS_MAX = 50;

/**
 * The value of a reference property in its stored form: a list of `{beacon}` in the given scheme, `href` dropped,
 * duplicates kept. Fails with `invalid` (texts: reference-rest 3.6). Whether the targets exist is another question.
 */
export function parseReferences(value: unknown, place: ReferencePlace, scheme: BeaconScheme): readonly JsonObject[] {
  const example = `[{"beacon": "${scheme}://${LOCAL_HOST}/<uuid>"}]`;
  if (!Array.isArray(value)) {
    throw refused(`${placeOf(place)} must be a list of references, ${example}, but got ${describeValue(value)}`);
  }
  return value.map((item: unknown, at) => {
    if (isUncheckedObject(item)) return parseReference(item, at, place, scheme);
    throw refused(
      `element ${at} of ${placeOf(place)} must be a reference, as in ${example}, got ${describeValue(item)}`,
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

/** A reference as {@link referenceTo} makes it and JSON.stringify writes it. */
const WRITTEN = /^\{"beacon":"[a-z]+:\/\/localhost\/([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"\}$/;

/**
 * As {@link withoutReferences}, of a list that JSON.stringify wrote, in UTF-8. What stays is copied as it stands: parsing and
 * writing a hundred thousand references would stop everything else.
 */
export function jsonWithoutReferences(json: Uint8Array, targets: readonly ObjectId[]): Uint8Array {
  const list = Buffer.from(json.buffer, json.byteOffset, json.length);
  const left = new Map<ObjectId | undefined, number>();
  for (const target of targets) left.set(target, 1 + (left.get(target) ?? 0));
  const kept: Uint8Array[] = [];
  let keptFrom = 1;
  let start = 1;
  let missing = targets.length;
  for (const end of elementEnds(list)) {
    if (missing === 0) break;
    const target = writtenTarget(list.toString("latin1", start, end));
    const count = left.get(target) ?? 0;
    if (count > 0) {
      left.set(target, count - 1);
      missing -= 1;
      if (start > keptFrom) kept.push(list.subarray(keptFrom, start - 1));
      keptFrom = end + 1;
    }
    start = end + 1;
  }
  if (keptFrom < list.length) kept.push(list.subarray(keptFrom, -1));
  const elements = kept.flatMap((part, at) => (at === 0 ? [part] : [COMMA, part]));
  return Buffer.concat([BEGINNING, ...elements, END]);
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
  throw new ShoalError(
    "invalid",
    `the host of a beacon must be '${LOCAL_HOST}', got '${escapeText(beacon.host.slice(0, 100))}'`,
  );
}

/** The error for a reference to an object that no class has. */
export function missingTarget(place: ReferencePlace, id: ObjectId): ShoalError {
  return refused(`'cref' ${place.className}:${place.property}: no object with id ${id} found`);
}

function writtenTarget(json: string): ObjectId | undefined {
  const id = WRITTEN.exec(json)?.[1];
  return id === undefined ? targetsOfReferences([JSON.parse(json) as Json])[0] : (id as ObjectId);
}

function parseReference(item: UncheckedObject, at: number, place: ReferencePlace, scheme: BeaconScheme): JsonObject {
  const { href: _, beacon, ...others } = item;
  const where = `element ${at} of ${placeOf(place)}`;
  const [other] = Object.keys(others);
  if (other !== undefined) throw refused(`${where} may have the members beacon and href only, got ${named(others)}`);
  if (typeof beacon !== "string") {
    const got = Object.hasOwn(item, "beacon") ? describeValue(beacon) : "none";
    throw refused(`${where} must have a beacon, a string such as ${scheme}://${LOCAL_HOST}/<uuid>, got ${got}`);
  }
  try {
    return referenceTo(parseReferenceTarget(beacon), scheme);
  } catch (error) {
    throw withPrefix(`invalid cref: ${where}: `, error);
  }
}

function placeOf({ className, property }: ReferencePlace): string {
  return `property '${property}' of class '${className}'`;
}

function named(members: UncheckedObject): string {
  const names = Object.keys(members);
  const shown = names.slice(0, MEMBERS_NAMED_MAX).map((name) => `'${escapeText(name.slice(0, MEMBER_CHARS_MAX))}'`);
  return shown.join(", ") + (names.length > shown.length ? ", …" : "");
}

function refused(reason: string): ShoalError {
  return new ShoalError("invalid", `invalid cref: ${reason}`);
}
