import * as z from "zod";
import { memberPath, type RequestWarnings } from "../errors/request-warnings.js";
import { ShoalError } from "../errors/shoal-error.js";
import { int64Of } from "../objects/json-number.js";
import { describeValue, isUncheckedObject, type UncheckedObject } from "../objects/value-wording.js";

/**
 * A schema of bodies that {@link decodeBody} reads: an object with an id in its metadata, whose members are optional and
 * are objects of that kind, lists, strings, booleans, {@link int64} or free.
 */
export type BodySchema = z.ZodObject;

/** An integer as the reference's decoder takes it; one beyond 2^53 becomes the nearest float64. */
export function int64(about: { readonly minimum?: number; readonly maximum?: number; readonly default?: number } = {}) {
  return z
    .unknown()
    .transform((value, context) => {
      const number = int64Of(value);
      if (typeof number === "number") return number;
      context.addIssue({ code: "custom", message: number, input: value });
      return z.NEVER;
    })
    .meta({ type: "integer", format: "int64", ...about });
}

/**
 * A body as its schema says, read as the reference's decoder does (reference-rest 1.3, 1.4): member names match in any
 * case, an exact match first; unknown members are dropped; null counts as absent, in a list as an empty text or object; a
 * wrong type fails with `malformed`, naming the member.
 */
export function decodeBody<Schema extends BodySchema>(schema: Schema, body: unknown): z.output<Schema> {
  if (body !== null && !isUncheckedObject(body)) {
    throw undecodable(`it must be an object, got ${describeValue(body)}`);
  }
  const result = schema.safeParse(foldMembers(schema, body ?? {}), { reportInput: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw undecodable("the value is not what its schema says");
  throw undecodable(wording(schema, issue));
}

/** The value with its members under the names that the schema has, and without what counts as absent. */
export function foldMembers(schema: unknown, value: unknown): unknown {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    const empty = inner.element instanceof z.ZodString ? "" : inner.element instanceof z.ZodObject ? {} : null;
    return value.map((item: unknown) => foldMembers(inner.element, item ?? empty));
  }
  if (!(inner instanceof z.ZodObject) || !isUncheckedObject(value)) return value;
  const members: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(inner.shape)) {
    const given = memberOf(value, name);
    if (given !== undefined && given !== null) members[name] = foldMembers(member, given);
  }
  return members;
}

/**
 * Tells of the members that a body has and its schema has not, at any depth. `section` is where `value` stands, empty for the body
 * itself. What the schema leaves open is not looked into.
 */
export function warnOfUnknown(schema: unknown, value: unknown, warnings: RequestWarnings, section = ""): void {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    for (const item of value) warnOfUnknown(inner.element, item, warnings, `${section}[]`);
  }
  if (!(inner instanceof z.ZodObject) || !isUncheckedObject(value)) return;
  const names = new Map(Object.keys(inner.shape).map((name) => [name.toLowerCase(), name]));
  for (const [key, member] of Object.entries(value)) {
    const name = names.get(key.toLowerCase());
    if (name === undefined) warnings.addUnknown(section, key, () => names.values());
    else warnOfUnknown(inner.shape[name], member, warnings, memberPath(section, name));
  }
}

/** The member of that name in any case, an exact match first. */
export function memberOf(object: UncheckedObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const wanted = name.toLowerCase();
  const key = Object.keys(object).find((candidate) => candidate.toLowerCase() === wanted);
  return key === undefined ? undefined : object[key];
}

/** An issue of zod as it is reported: the member's path and type in the words of JSON. */
function wording(schema: BodySchema, issue: z.core.$ZodIssue): string {
  let at: unknown = schema;
  let path = "";
  for (const key of issue.path) {
    if (typeof key === "number") {
      at = at instanceof z.ZodArray ? at.element : at;
      path += `[${key}]`;
    } else {
      at = unwrapped(at instanceof z.ZodObject ? at.shape[String(key)] : undefined);
      path += path === "" ? String(key) : `.${String(key)}`;
    }
  }
  return `member '${path}' must be ${wantedBy(at)}, got ${describeValue(issue.input)}`;
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? unwrapped(schema.unwrap()) : schema;
}

/** What a schema takes, in the words of JSON. */
function wantedBy(schema: unknown): string {
  if (schema instanceof z.ZodString) return "a string";
  if (schema instanceof z.ZodBoolean) return "true or false";
  if (schema instanceof z.ZodObject) return "an object";
  if (schema instanceof z.ZodArray) return `a list of ${schema.element instanceof z.ZodObject ? "objects" : "strings"}`;
  return "an integer of at most 64 bits, without fraction or exponent";
}

function undecodable(reason: string): ShoalError {
  return new ShoalError("malformed", `the request body cannot be read: ${reason}`);
}
