import * as z from "zod";
import { ShoalError } from "../errors/shoal-error.js";
import { int64Of, JsonNumber } from "../objects/json-number.js";
import { isUncheckedObject, type UncheckedObject } from "../objects/value-wording.js";

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
 * A body as its schema says, in the way and the words of the reference's decoder (reference-rest 1.3, 1.4): member names
 * match in any case, an exact match first; unknown members are dropped; null counts as absent, in a list as an empty text or
 * object; a wrong type fails with `malformed`. `parameter` is the body's name in messages.
 */
export function decodeBody<Schema extends BodySchema>(
  schema: Schema,
  body: unknown,
  parameter: string,
): z.output<Schema> {
  if (body !== null && !isUncheckedObject(body)) {
    throw undecodable(parameter, `cannot unmarshal ${kind(body)} into Go value of type models.${nameOf(schema)}`);
  }
  const result = schema.safeParse(foldMembers(schema, body ?? {}), { reportInput: true });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue === undefined) throw undecodable(parameter, "the value is not what its schema says");
  throw undecodable(parameter, wording(schema, issue));
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

/** The member of that name in any case, an exact match first. */
export function memberOf(object: UncheckedObject, name: string): unknown {
  if (Object.hasOwn(object, name)) return object[name];
  const wanted = name.toLowerCase();
  const key = Object.keys(object).find((candidate) => candidate.toLowerCase() === wanted);
  return key === undefined ? undefined : object[key];
}

/** An issue of zod in the words of the reference's decoder. */
function wording(schema: BodySchema, issue: z.core.$ZodIssue): string {
  let at: unknown = schema;
  let struct = nameOf(schema);
  const names: string[] = [];
  for (const [depth, key] of issue.path.entries()) {
    if (typeof key === "number") {
      at = at instanceof z.ZodArray ? at.element : at;
    } else {
      names.push(String(key));
      at = unwrapped(at instanceof z.ZodObject ? at.shape[String(key)] : undefined);
    }
    if (at instanceof z.ZodObject && depth < issue.path.length - 1) struct = nameOf(at);
  }
  const type = goType(at);
  const shown = type === "int64" && kind(issue.input) === "number" ? `number ${issue.input}` : kind(issue.input);
  return `cannot unmarshal ${shown} into Go struct field ${struct}.${names.join(".")} of type ${type}`;
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable ? unwrapped(schema.unwrap()) : schema;
}

/** The type as the reference's decoder names it. */
function goType(schema: unknown): string {
  if (schema instanceof z.ZodString) return "string";
  if (schema instanceof z.ZodBoolean) return "bool";
  if (schema instanceof z.ZodObject) return `models.${nameOf(schema)}`;
  if (schema instanceof z.ZodArray) {
    return schema.element instanceof z.ZodObject ? `[]*${goType(schema.element)}` : `[]${goType(schema.element)}`;
  }
  return "int64";
}

function nameOf(schema: z.ZodObject): string {
  return String(schema.meta()?.id);
}

/** The kind of a JSON value as the reference's decoder names it. */
function kind(value: unknown): string {
  if (typeof value === "string") return "string";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" || value instanceof JsonNumber) return "number";
  return Array.isArray(value) ? "array" : "object";
}

function undecodable(parameter: string, reason: string): ShoalError {
  return new ShoalError("malformed", `parsing ${parameter} body from "" failed, because json: ${reason}`);
}
