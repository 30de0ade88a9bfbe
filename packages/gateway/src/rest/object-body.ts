import type { ObjectInput } from "@shoal/ingest";
import { int64Of, isUncheckedObject, JsonNumber, type RequestWarnings, ShoalError } from "@shoal/model";
import type { WorkBounds } from "@shoal/runtime";
import { type CutText, cutVectors } from "../json/cut-vectors.js";
import type { ItemGroup } from "../json/item-groups.js";
import { ONE_BODY } from "../json/json-size.js";
import { parseJsonExactly, parseJsonText, refuseCostlyJson } from "../json/parse-json.js";
import { ParsedItems } from "../json/parsed-items.js";
import { readInTurns } from "../json/read-in-turns.js";
import { wrongBody, wrongMember } from "../json/wrong-member.js";
import { withExactProperties } from "./exact-properties.js";

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

type Draft = { -readonly [Member in keyof ObjectInput]: unknown };

/** An object as a client sent it. */
export interface SentObject extends ObjectInput {
  /** `vector` as it stands in the body, where it is printed just so. */
  readonly vectorJson?: Uint8Array | undefined;
}

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
export function readObjectBody(bytes: Buffer, warnings?: RequestWarnings): ObjectInput {
  refuseCostlyJson(bytes, ONE_BODY);
  const text = (): string => bytes.toString("utf8");
  const [input] = readInputs(cutVectors(bytes), text, (value) => [objectInput(value, undefined, 0, warnings)]);
  return checked(input, () => parseJsonExactly(text()));
}

/** As {@link readObjectBody}, for a long body: looked at in turns, then parsed in one. */
export async function readLongObjectBody(
  bytes: Buffer,
  bounds: WorkBounds,
  warnings?: RequestWarnings,
): Promise<ObjectInput> {
  const groups = new ParsedItems((group) => [group], 1);
  await readInTurns(bytes, ONE_BODY, { kind: "root", sink: groups }, bounds);
  const [group] = groups.items;
  if (group === undefined) return objectInput(null);
  const first = (list: unknown): unknown => (Array.isArray(list) ? list[0] : undefined);
  const [input] = readGroup(group, (list) => [objectInput(first(list), undefined, 0, warnings)]);
  return checked(input, () => first(parseJsonExactly(group.text())));
}

/** The input with a vector that can be decoded; `exactBody` reads the body with the literals of its numbers. */
function checked(read: ObjectInput | undefined, exactBody: () => unknown): ObjectInput {
  const input = read ?? objectInput(null);
  const { vector } = input;
  if (vector !== undefined && !(vector instanceof Float32Array)) {
    checkVector(vector, () => objectInput(exactBody()).vector);
  }
  return input;
}

const ELEMENT = "a number within the range of float32";

/**
 * A vector that cannot be decoded refuses the body of one object (reference-rest 1.4); in a batch it refuses its item.
 * `exactVector` reads the vector again, with the literals of its numbers.
 */
function checkVector(vector: unknown, exactVector: () => unknown): void {
  if (!Array.isArray(vector)) throw wrongMember(vector, "vector", "a list of numbers");
  for (let at = 0; at < vector.length; at++) {
    const element: unknown = vector[at];
    if (typeof element === "number") {
      if (Number.isFinite(Math.fround(element))) continue;
      const exact = exactVector();
      throw wrongMember(Array.isArray(exact) ? exact[at] : element, `vector[${at}]`, ELEMENT);
    }
    if (element !== null) throw wrongMember(element, `vector[${at}]`, ELEMENT);
  }
}

export type Inputs = readonly (SentObject | undefined)[];

/**
 * Reads a text with its vectors cut out, which is the same and cheaper. Whatever is unusual about it (an error, a vector
 * somewhere else than in an object, a member given twice) is decided on the text as it came.
 */
export function readInputs(
  cut: CutText | undefined,
  text: () => string,
  inputsOf: (value: unknown) => Inputs,
  parse: (text: string) => unknown = parseBody,
): Inputs {
  const inputs = cut === undefined ? undefined : readCutInputs(cut, inputsOf, parse);
  if (inputs !== undefined) return inputs;
  const whole = text();
  return withExactProperties(whole, inputsOf(parse(whole)), inputsOf);
}

function parseBody(text: string): unknown {
  return parseJsonText(text);
}

/** As {@link readInputs}, for some items of a list, which are known to be JSON. */
export function readGroup({ cut, text }: ItemGroup, inputsOf: (list: unknown) => Inputs): Inputs {
  return readInputs(cut, text, inputsOf, JSON.parse);
}

function readCutInputs(
  { text, vectors, mark }: CutText,
  inputsOf: (value: unknown) => Inputs,
  parse: (text: string) => unknown,
): Inputs | undefined {
  let inputs: Inputs;
  try {
    inputs = withExactProperties(text, inputsOf(parse(text)), inputsOf);
  } catch (thrown) {
    if (thrown instanceof ShoalError && thrown.code === "tooLarge") throw thrown;
    return undefined;
  }
  let restored = 0;
  const whole = inputs.map((input) => {
    const { vector } = input ?? {};
    if (input === undefined || typeof vector !== "string" || !vector.startsWith(mark)) return input;
    restored += 1;
    const cut = vectors[Number(vector.slice(mark.length))];
    return { ...input, vector: cut?.vector, vectorJson: cut?.json };
  });
  return restored === vectors.length ? whole : undefined;
}

/** A member that is no part of the object: a time, which must be one, or unknown. */
function checkOther(key: string, value: unknown, list: string | undefined, at: number, warnings?: RequestWarnings) {
  const time = TIMES.get(key.toLowerCase());
  if (time === undefined) {
    warnings?.addUnknown(list === undefined ? "" : `${list}[]`, key, knownMembers);
    return;
  }
  if (value === null || typeof int64Of(value) === "number" || value instanceof JsonNumber) return;
  throw wrongMember(value, pathOf(list, at, time), "an integer of at most 64 bits, in milliseconds since 1970");
}

/**
 * An object of a request body, or of the `list` in it, where it stands `at`. Null is an empty one. Unknown members go to
 * `warnings`.
 */
export function objectInput(value: unknown, list?: string, at = 0, warnings?: RequestWarnings): ObjectInput {
  const draft: Draft = {
    id: undefined,
    className: undefined,
    properties: undefined,
    vector: undefined,
    vectorWeights: undefined,
    additional: undefined,
  };
  if (value !== null) {
    if (!isUncheckedObject(value)) throw wrongBody(value, "an object");
    for (const key of Object.keys(value)) {
      const member = MEMBERS.get(key) ?? MEMBERS.get(key.toLowerCase());
      if (member !== undefined) draft[member] = value[key] ?? undefined;
      else checkOther(key, value[key], list, at, warnings);
    }
  }
  const { id, className } = draft;
  if (id !== undefined && typeof id !== "string") throw wrongMember(id, pathOf(list, at, "id"), "a string with a UUID");
  if (className !== undefined && typeof className !== "string") {
    throw wrongMember(className, pathOf(list, at, "class"), "a string");
  }
  return draft as ObjectInput;
}

function pathOf(list: string | undefined, at: number, member: string): string {
  return list === undefined ? member : `${list}[${at}].${member}`;
}
