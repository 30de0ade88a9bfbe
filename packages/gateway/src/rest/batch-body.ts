import type { ObjectInput } from "@shoal/ingest";
import { describeValue, isUncheckedObject, type RequestWarnings, ShoalError } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import { cutVectors } from "../json/cut-vectors.js";
import { BATCH_BODY } from "../json/json-size.js";
import { refuseCostlyJson } from "../json/parse-json.js";
import { ParsedItems } from "../json/parsed-items.js";
import { readInTurns } from "../json/read-in-turns.js";
import { wrongBody, wrongMember } from "../json/wrong-member.js";
import { type Inputs, objectInput, readGroup, readInputs } from "./object-body.js";

const BATCH = 'an object with a list of objects, {"objects": […]}';

/**
 * The body of an object batch; a null item stays undefined. `fields` is checked and otherwise ignored, unknown members are told
 * to `warnings`. Fails with `malformed` or `invalid`, with `tooLarge` on more than `objectsMax` items; an absent list is an empty one.
 */
export function readBatchBody(bytes: Buffer, objectsMax: number, warnings?: RequestWarnings): Inputs {
  refuseCostlyJson(bytes, BATCH_BODY);
  return readInputs(
    cutVectors(bytes),
    () => bytes.toString("utf8"),
    (value) => batchItems(value, objectsMax, warnings),
  );
}

/** As {@link readBatchBody}, for a long body, in turns of the event loop. */
export async function readLongBatchBody(
  bytes: Buffer,
  objectsMax: number,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<Inputs> {
  const inputs = () =>
    new ParsedItems((group) => readGroup(group, (items) => inputsOf(items, group.first, warnings)), objectsMax);
  const checkedFields = () =>
    new ParsedItems<undefined>(({ first, text }) => {
      checkFields(JSON.parse(text()) as unknown[], first);
      return [];
    }, Number.POSITIVE_INFINITY);
  const sinks = new Map<string, () => ParsedItems<ObjectInput | undefined>>([
    ["objects", inputs],
    ["fields", checkedFields],
  ]);
  const onOther = (name: string) => warnings?.addUnknown("", name, batchMembers);
  const { root, members } = await readInTurns(bytes, BATCH_BODY, { kind: "members", sinks, onOther }, bounds);
  if (root.sample === null) return [];
  if (!isUncheckedObject(root.sample)) throw wrongBody(root.sample, BATCH);
  const { objects, fields } = wantedMembers(members, ({ sample }) => sample === null);
  if (fields !== undefined) {
    requireList(fields.sample, "fields", "a list of strings");
    // Reading them throws what is wrong with them.
    void fields.sink?.items;
  }
  if (objects === undefined) return [];
  requireList(objects.sample, "objects", "a list of objects");
  requireLength(objects.length, objectsMax);
  return objects.sink?.items ?? [];
}

function batchItems(value: unknown, objectsMax: number, warnings?: RequestWarnings): Inputs {
  if (value === null) return [];
  if (!isUncheckedObject(value)) throw wrongBody(value, BATCH);
  const { objects, fields } = wantedMembers(
    Object.entries(value),
    (member) => member === null,
    (name) => warnings?.addUnknown("", name, batchMembers),
  );
  if (fields !== undefined) {
    requireList(fields, "fields", "a list of strings");
    checkFields(fields, 0);
  }
  if (objects === undefined) return [];
  requireList(objects, "objects", "a list of objects");
  requireLength(objects.length, objectsMax);
  return inputsOf(objects, 0, warnings);
}

const batchMembers = (): readonly string[] => ["objects", "fields"];

/** The members that count, in any case (reference-rest 1.4): of repeated ones the last, and null is as good as none. */
function wantedMembers<Value>(
  members: Iterable<readonly [string, Value]>,
  isNull: (value: Value) => boolean,
  onOther?: (name: string) => void,
): { readonly objects: Value | undefined; readonly fields: Value | undefined } {
  let objects: Value | undefined;
  let fields: Value | undefined;
  for (const [key, value] of members) {
    const name = key.toLowerCase();
    if (name === "objects") objects = isNull(value) ? undefined : value;
    else if (name === "fields") fields = isNull(value) ? undefined : value;
    else onOther?.(key);
  }
  return { objects, fields };
}

function requireList(value: unknown, member: string, wanted: string): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw wrongMember(value, member, wanted);
}

function requireLength(length: number, objectsMax: number): void {
  if (length <= objectsMax) return;
  throw new ShoalError(
    "tooLarge",
    `the batch has ${length} objects, at most ${objectsMax} are allowed (BATCH_OBJECTS_MAX): send several`,
  );
}

/** `first` is the index of the first of them. */
function inputsOf(items: unknown, first: number, warnings?: RequestWarnings): Inputs {
  requireList(items, "objects", "a list of objects");
  return items.map((item, at) => {
    if (item === null) return undefined;
    if (!isUncheckedObject(item)) throw wrongMember(item, `objects[${first + at}]`, "an object");
    return objectInput(item, "objects", first + at, warnings);
  });
}

const BATCH_FIELDS: readonly unknown[] = ["ALL", "class", "schema", "id", "creationTimeUnix"];

/**
 * The reference lets `fields` decide what is imported, which loses data; only its values are checked here. `first` is
 * the index of the first of them.
 */
function checkFields(fields: readonly unknown[], first: number): void {
  for (const [at, field] of fields.entries()) {
    if (typeof field !== "string" && field !== null) throw wrongMember(field, `fields[${first + at}]`, "a string");
    if (BATCH_FIELDS.includes(field)) continue;
    throw new ShoalError(
      "invalid",
      `member 'fields[${first + at}]' must be one of ${BATCH_FIELDS.join(", ")}, got ${describeValue(field)}`,
    );
  }
}
