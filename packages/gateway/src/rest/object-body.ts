import type { ObjectInput } from "@shoal/ingest";
import { int64Of, isUncheckedObject, JsonNumber, ShoalError } from "@shoal/model";
import { type CutText, cutVectors } from "../json/cut-vectors.js";
import { wrongMember, wrongNumber, wrongValue } from "../json/json-kind.js";
import { BATCH_BODY, type JsonSize, ONE_BODY } from "../json/json-size.js";
import { parseJson, parseJsonExactly, parseJsonText, refuseCostlyJson } from "../json/parse-json.js";
import { withExactProperties } from "./exact-properties.js";

/** Members of an object in a request body; found in any case (reference-rest 1.4). */
const MEMBERS: ReadonlyMap<string, keyof ObjectInput> = new Map([
  ["id", "id"],
  ["class", "className"],
  ["properties", "properties"],
  ["vector", "vector"],
  ["vectorweights", "vectorWeights"],
  ["additional", "additional"],
]);

type Draft = { -readonly [Member in keyof ObjectInput]: unknown };

/** Members that are checked and otherwise ignored: the times are ours. */
const TIMES: ReadonlyMap<string, string> = new Map([
  ["creationtimeunix", "creationTimeUnix"],
  ["lastupdatetimeunix", "lastUpdateTimeUnix"],
]);

/** The body of a request about one object. Fails with `malformed` or `invalid` (no body). */
export function readObjectBody(bytes: Buffer): ObjectInput {
  const input = readInputs(bytes, ONE_BODY, (value) => [objectInput(value, "")])[0] ?? objectInput(null, "");
  const { vector } = input;
  if (vector === undefined || vector instanceof Float32Array) return input;
  checkVector(vector, () => objectInput(parseJsonExactly(bytes.toString("utf8")), "").vector);
  return input;
}

/**
 * A vector that cannot be decoded refuses the body of one object (reference-rest 1.4); in a batch it refuses its item.
 * `exactVector` reads the vector again, with the literals of its numbers.
 */
function checkVector(vector: unknown, exactVector: () => unknown): void {
  if (!Array.isArray(vector)) throw wrongMember(vector, "Object.vector", "models.C11yVector");
  for (let at = 0; at < vector.length; at++) {
    const element: unknown = vector[at];
    if (typeof element === "number") {
      if (Number.isFinite(Math.fround(element))) continue;
      const exact = exactVector();
      throw wrongNumber(Array.isArray(exact) ? exact[at] : element, "Object.vector", "float32");
    }
    if (element !== null) throw wrongMember(element, "Object.vector", "float32");
  }
}

/**
 * The body of an object batch; a null item stays undefined. `fields` is checked and otherwise ignored. Fails with
 * `malformed` or `invalid`, with `tooLarge` on more than `objectsMax` items; an absent list is an empty one.
 */
export function readBatchBody(bytes: Buffer, objectsMax: number): readonly (ObjectInput | undefined)[] {
  return readInputs(bytes, BATCH_BODY, (value) => batchItems(value, objectsMax));
}

type Inputs = readonly (ObjectInput | undefined)[];

/**
 * Reads a body with its vectors cut out, which is the same and cheaper. Whatever is unusual about it (an error, a vector
 * somewhere else than in an object, a member given twice) is decided on the body as it came.
 */
function readInputs(bytes: Buffer, size: JsonSize, inputsOf: (value: unknown) => Inputs): Inputs {
  refuseCostlyJson(bytes, "body", size);
  const cut = cutVectors(bytes);
  const inputs = cut === undefined ? undefined : readCutInputs(cut, inputsOf);
  if (inputs !== undefined) return inputs;
  const { value, text } = parseJson(bytes, "body", size);
  return withExactProperties(text, inputsOf(value), inputsOf);
}

function readCutInputs({ text, vectors, mark }: CutText, inputsOf: (value: unknown) => Inputs): Inputs | undefined {
  let inputs: Inputs;
  try {
    inputs = withExactProperties(text, inputsOf(parseJsonText(text, "body")), inputsOf);
  } catch (thrown) {
    if (thrown instanceof ShoalError && thrown.code === "tooLarge") throw thrown;
    return undefined;
  }
  let restored = 0;
  const whole = inputs.map((input) => {
    const { vector } = input ?? {};
    if (input === undefined || typeof vector !== "string" || !vector.startsWith(mark)) return input;
    restored += 1;
    return { ...input, vector: vectors[Number(vector.slice(mark.length))] };
  });
  return restored === vectors.length ? whole : undefined;
}

function batchItems(value: unknown, objectsMax: number): readonly (ObjectInput | undefined)[] {
  if (value === null) return [];
  if (!isUncheckedObject(value)) throw wrongValue(value, "objects.BatchObjectsCreateBody");
  let objects: unknown;
  let fields: unknown;
  for (const key of Object.keys(value)) {
    const name = key.toLowerCase();
    if (name === "objects") objects = value[key] ?? undefined;
    else if (name === "fields") fields = value[key] ?? undefined;
  }
  if (fields !== undefined) checkFields(fields);
  if (objects === undefined) return [];
  if (!Array.isArray(objects)) throw wrongMember(objects, "BatchObjectsCreateBody.objects", "[]*models.Object");
  if (objects.length > objectsMax) {
    throw new ShoalError(
      "tooLarge",
      `the batch has ${objects.length} objects, more than ${objectsMax} (BATCH_OBJECTS_MAX)`,
    );
  }
  return objects.map((item: unknown) => {
    if (item === null) return undefined;
    if (!isUncheckedObject(item)) throw wrongMember(item, "BatchObjectsCreateBody.objects", "models.Object");
    return objectInput(item, "objects.");
  });
}

const BATCH_FIELDS: readonly unknown[] = ["ALL", "class", "schema", "id", "creationTimeUnix"];

/** The reference lets `fields` decide what is imported, which loses data; only its values are checked here. */
function checkFields(fields: unknown): void {
  if (!Array.isArray(fields)) throw wrongMember(fields, "BatchObjectsCreateBody.fields", "[]*string");
  for (const [at, field] of fields.entries()) {
    if (typeof field !== "string" && field !== null)
      throw wrongMember(field, "BatchObjectsCreateBody.fields", "string");
    if (BATCH_FIELDS.includes(field)) continue;
    throw new ShoalError("invalid", `body.fields.${at} in body should be one of [${BATCH_FIELDS.join(" ")}]`);
  }
}

function checkTime(key: string, value: unknown, path: string): void {
  const time = TIMES.get(key.toLowerCase());
  if (time === undefined || value === null || typeof int64Of(value) === "number" || value instanceof JsonNumber) return;
  if (typeof value === "number") throw wrongNumber(value, `Object.${path}${time}`, "int64");
  throw wrongMember(value, `Object.${path}${time}`, "int64");
}

function objectInput(value: unknown, path: string): ObjectInput {
  const draft: Draft = {
    id: undefined,
    className: undefined,
    properties: undefined,
    vector: undefined,
    vectorWeights: undefined,
    additional: undefined,
  };
  if (value !== null) {
    if (!isUncheckedObject(value)) throw wrongValue(value, "models.Object");
    for (const key of Object.keys(value)) {
      const member = MEMBERS.get(key) ?? MEMBERS.get(key.toLowerCase());
      if (member !== undefined) draft[member] = value[key] ?? undefined;
      else checkTime(key, value[key], path);
    }
  }
  const { id, className } = draft;
  if (id !== undefined && typeof id !== "string") throw wrongMember(id, `Object.${path}id`, "strfmt.UUID");
  if (className !== undefined && typeof className !== "string") {
    throw wrongMember(className, `Object.${path}class`, "string");
  }
  return draft as ObjectInput;
}
