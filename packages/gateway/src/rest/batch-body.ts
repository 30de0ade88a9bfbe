import { describeValue, isUncheckedObject, type RequestWarnings, ShoalError } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import type { ItemGroup } from "../json/item-group.js";
import type { ItemForm } from "../json/item-list.js";
import { BATCH_BODY } from "../json/json-size.js";
import { type ReadValue, readItems } from "../json/read-items.js";
import { wrongBody, wrongMember } from "../json/wrong-member.js";
import { objectInput, type SentObject } from "./object-body.js";

const BATCH = 'an object with a list of objects, {"objects": […]}';

/** The items of a batch; a null one is undefined. */
export type Inputs = readonly (SentObject | undefined)[];

/**
 * The body of an object batch. `fields` is checked and otherwise ignored, unknown members are reported to `warnings`. Fails with
 * `malformed` or `invalid`, with `tooLarge` on more than `objectsMax` items; an absent list is an empty one.
 */
export async function readBatchBody(
  bytes: Buffer,
  objectsMax: number,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<Inputs> {
  const forms = new Map<string, ItemForm<SentObject | undefined>>([
    ["objects", { itemsMax: objectsMax, itemOf: (item, at, group) => inputOf(item, at, group, warnings) }],
    ["fields", { itemsMax: Number.POSITIVE_INFINITY, itemOf: checkField }],
  ]);
  const onOther = (name: string) => warnings?.addUnknown("", name, batchMembers);
  const { root, members } = await readItems(bytes, BATCH_BODY, { kind: "members", forms, onOther }, bounds);
  if (root.sample === null) return [];
  if (!isUncheckedObject(root.sample)) throw wrongBody(root.sample, BATCH);
  const { objects, fields } = wantedMembers(members);
  if (fields !== undefined) {
    if (fields.list === undefined) throw wrongMember(fields.sample, "fields", "a list of strings");
    // Reading them throws what is wrong with them.
    void fields.list.items;
  }
  if (objects === undefined) return [];
  if (objects.list === undefined) throw wrongMember(objects.sample, "objects", "a list of objects");
  requireLength(objects.list.length, objectsMax);
  return objects.list.items;
}

const batchMembers = (): readonly string[] => ["objects", "fields"];

type Member = ReadValue<SentObject | undefined>;

/** The members that count, in any case (reference-rest 1.4): of repeated ones the last, and null is as good as none. */
function wantedMembers(members: ReadonlyMap<string, Member>): {
  readonly objects: Member | undefined;
  readonly fields: Member | undefined;
} {
  let objects: Member | undefined;
  let fields: Member | undefined;
  for (const [key, value] of members) {
    const given = value.sample === null ? undefined : value;
    if (key.toLowerCase() === "objects") objects = given;
    else fields = given;
  }
  return { objects, fields };
}

function requireLength(length: number, objectsMax: number): void {
  if (length <= objectsMax) return;
  throw new ShoalError(
    "tooLarge",
    `the batch has ${length} objects, at most ${objectsMax} are allowed (BATCH_OBJECTS_MAX): send several`,
  );
}

function inputOf(item: unknown, at: number, group: ItemGroup, warnings?: RequestWarnings): SentObject | undefined {
  if (item === null) return undefined;
  if (!isUncheckedObject(item)) throw wrongMember(item, `objects[${at}]`, "an object");
  return objectInput(item, group, "objects", at, warnings);
}

const BATCH_FIELDS: readonly unknown[] = ["ALL", "class", "schema", "id", "creationTimeUnix"];

/** The reference lets `fields` decide what is imported, which loses data; only its values are checked here. */
function checkField(field: unknown, at: number): undefined {
  if (typeof field !== "string" && field !== null) throw wrongMember(field, `fields[${at}]`, "a string");
  if (BATCH_FIELDS.includes(field)) return undefined;
  throw new ShoalError(
    "invalid",
    `member 'fields[${at}]' must be one of ${BATCH_FIELDS.join(", ")}, got ${describeValue(field)}`,
  );
}
