import type { ObjectInput } from "@shoal/ingest";
import { int64Of, isUncheckedObject, JsonNumber, type RequestWarnings } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import type { ItemGroup } from "../json/item-group.js";
import { ONE_BODY } from "../json/json-size.js";
import { readItems } from "../json/read-items.js";
import { wrongBody, wrongMember } from "../json/wrong-member.js";

/** Members of an object in a request body; found in any case (reference-rest 1.4). */
const MEMBERS: ReadonlyMap<string, keyof ObjectInput> = new Map([
  ["id", "id"],
  ["class", "className"],
  ["properties", "properties"],
  ["vector", "vector"],
  ["vectorweights", "vectorWeights"],
  ["additional", "additional"],
  ["tenant", "tenant"],
  ["vectors", "vectors"],
]);

/** An object as a client sent it. */
export interface SentObject extends ObjectInput {
  /** `vector` as it stands in the body, where it is printed just so. */
  readonly vectorJson?: Uint8Array | undefined;
}

type Draft = { -readonly [Member in keyof SentObject]: unknown };

/** Members that are checked and otherwise ignored: the times are ours. */
const TIMES: ReadonlyMap<string, string> = new Map([
  ["creationtimeunix", "creationTimeUnix"],
  ["lastupdatetimeunix", "lastUpdateTimeUnix"],
]);

/** For advice on a name that is none of them. */
function knownMembers(): readonly string[] {
  return [...MEMBERS.values(), ...TIMES.values()].map((name) => (name === "className" ? "class" : name));
}

/**
 * The body of a request about one object; unknown members go to `warnings`. Fails with `malformed`, `invalid` (no body) or
 * `tooLarge`.
 */
export async function readObjectBody(
  bytes: Buffer,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<SentObject> {
  const itemOf = (value: unknown, _: number, group: ItemGroup): SentObject => {
    const input = objectInput(value, group, undefined, 0, warnings);
    if (input.vector !== undefined && !(input.vector instanceof Float32Array)) checkVector(input.vector);
    return input;
  };
  const { root } = await readItems(bytes, ONE_BODY, { kind: "root", form: { itemsMax: 1, itemOf } }, bounds);
  const [input] = root.list?.items ?? [];
  return input ?? NOTHING;
}

const ELEMENT = "a number within the range of float32";

/** A vector that cannot be decoded refuses the body of one object (reference-rest 1.4); in a batch it refuses its item. */
function checkVector(vector: unknown): void {
  if (!Array.isArray(vector)) throw wrongMember(vector, "vector", "a list of numbers");
  for (let at = 0; at < vector.length; at++) {
    const element: unknown = vector[at];
    if (element === null) continue;
    const number = element instanceof JsonNumber ? element.toNumber() : element;
    if (typeof number === "number" && Number.isFinite(Math.fround(number))) continue;
    throw wrongMember(element, `vector[${at}]`, ELEMENT);
  }
}

/** A member that is no part of the object: a time, which must be one, or unknown. */
function checkOther(key: string, value: unknown, list: string | undefined, at: number, warnings?: RequestWarnings) {
  const time = TIMES.get(key.toLowerCase());
  if (time === undefined) {
    warnings?.addUnknown(list === undefined ? "" : `${list}[]`, key, knownMembers);
    return;
  }
  const number = value instanceof JsonNumber ? value.toNumber() : value;
  if (value === null || typeof int64Of(number) === "number") return;
  throw wrongMember(value, pathOf(list, at, time), "an integer of at most 64 bits, in milliseconds since 1970");
}

/**
 * An object of a request body, or of the `list` in it, where it stands `at`; `group` has its vector. Null is an empty one.
 * Unknown members go to `warnings`.
 */
export function objectInput(
  value: unknown,
  group: ItemGroup,
  list: string | undefined,
  at: number,
  warnings?: RequestWarnings,
): SentObject {
  if (value === null) return NOTHING;
  if (!isUncheckedObject(value)) throw wrongBody(value, "an object");
  const draft: Draft = { ...NOTHING };
  for (const key of Object.keys(value)) {
    const member = MEMBERS.get(key) ?? MEMBERS.get(key.toLowerCase());
    if (member !== undefined) draft[member] = value[key] ?? undefined;
    else checkOther(key, value[key], list, at, warnings);
  }
  const { id, className } = draft;
  if (id !== undefined && typeof id !== "string") throw wrongMember(id, pathOf(list, at, "id"), "a string with a UUID");
  if (className !== undefined && typeof className !== "string") {
    throw wrongMember(className, pathOf(list, at, "class"), "a string");
  }
  const cut = group.vectorOf(draft.vector);
  if (cut !== undefined) {
    draft.vector = cut.vector;
    draft.vectorJson = cut.json;
  }
  return draft as SentObject;
}

const NOTHING: SentObject = {
  id: undefined,
  className: undefined,
  properties: undefined,
  vector: undefined,
  vectorJson: undefined,
  vectorWeights: undefined,
  additional: undefined,
};

function pathOf(list: string | undefined, at: number, member: string): string {
  return list === undefined ? member : `${list}[${at}].${member}`;
}
