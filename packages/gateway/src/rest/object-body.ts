import type { ObjectInput } from "@shoal/ingest";
import { isUncheckedObject, ShoalError } from "@shoal/model";
import { wrongMember, wrongValue } from "../json/json-kind.js";
import { parseJson } from "../json/parse-json.js";
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

/** The body of a request about one object. Fails with `malformed` or `invalid` (no body). */
export function readObjectBody(bytes: Buffer): ObjectInput {
  const { value, text } = parseJson(bytes, "body");
  const input = objectInput(value, "");
  return withExactProperties(text, [input], (exact) => [objectInput(exact, "")])[0] ?? input;
}

/**
 * The body of an object batch; a null item stays undefined. `fields` is checked and otherwise ignored. Fails with
 * `malformed` or `invalid`; an absent list is an empty one.
 */
export function readBatchBody(bytes: Buffer): readonly (ObjectInput | undefined)[] {
  const { value, text } = parseJson(bytes, "body");
  return withExactProperties(text, batchItems(value), batchItems);
}

function batchItems(value: unknown): readonly (ObjectInput | undefined)[] {
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
  return objects.map((item: unknown) => (item === null ? undefined : objectInput(item, "objects.")));
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
    }
  }
  const { id, className } = draft;
  if (id !== undefined && typeof id !== "string") throw wrongMember(id, `Object.${path}id`, "strfmt.UUID");
  if (className !== undefined && typeof className !== "string") {
    throw wrongMember(className, `Object.${path}class`, "string");
  }
  return draft as ObjectInput;
}
