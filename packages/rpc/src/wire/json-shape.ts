import { ShoalError } from "@shoal/model";

/** Fails with `invalid`, naming the member, on a value that the code behind it could not work with. */
export type JsonShape = (value: unknown, member: string) => void;

/** Values deeper than this come from nobody of ours, and walking them would take the stack. */
const DEPTH_MAX = 100;

function wrong(member: string, rule: string, value: unknown): ShoalError {
  const kind = value === null ? "null" : Array.isArray(value) ? "a list" : typeof value;
  const got = kind === "number" || kind === "boolean" ? String(value) : value === undefined ? "nothing" : kind;
  return new ShoalError("invalid", `${member} must be ${rule}, got ${got}`);
}

export const text: JsonShape = (value, member) => {
  if (typeof value !== "string") throw wrong(member, "a text", value);
};

/** A text that names something: at least one character. */
export const nonEmpty: JsonShape = (value, member) => {
  if (typeof value !== "string" || value === "") throw wrong(member, "a text that is not empty", value);
};

/** `class/shard`, or `node/copy`. A place where a copy is still to be made has nothing after the slash. */
export const slashed: JsonShape = (value, member) => {
  if (typeof value !== "string" || value.indexOf("/") < 1) throw wrong(member, "a name and a slash", value);
};

export const boolean: JsonShape = (value, member) => {
  if (typeof value !== "boolean") throw wrong(member, "true or false", value);
};

export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): JsonShape {
  return (value, member) => {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most) return;
    throw wrong(member, `a whole number from ${least} to ${most}`, value);
  };
}

/** A number from 0 to 1. */
export const share: JsonShape = (value, member) => {
  if (typeof value === "number" && value >= 0 && value <= 1) return;
  throw wrong(member, "a number from 0 to 1", value);
};

export function oneOf(...words: readonly string[]): JsonShape {
  return (value, member) => {
    if (typeof value !== "string" || !words.includes(value)) throw wrong(member, `one of ${words.join(", ")}`, value);
  };
}

/** Any JSON object that is not too deep. */
export const object: JsonShape = (value, member) => {
  if (!isObject(value)) throw wrong(member, "an object", value);
  checkDepth(value, member, DEPTH_MAX);
};

export function optional(shape: JsonShape): JsonShape {
  return (value, member) => {
    if (value !== undefined) shape(value, member);
  };
}

export function nullable(shape: JsonShape): JsonShape {
  return (value, member) => {
    if (value !== null) shape(value, member);
  };
}

export function list(shape: JsonShape, most: number = Number.MAX_SAFE_INTEGER): JsonShape {
  return (value, member) => {
    if (!Array.isArray(value)) throw wrong(member, "a list", value);
    if (value.length > most) throw new ShoalError("invalid", `${member} may have ${most} items, got ${value.length}`);
    for (const [at, item] of value.entries()) shape(item, `${member}[${at}]`);
  };
}

/** An object with these members; others are for versions that know them. */
export function members(shapes: Readonly<Record<string, JsonShape>>): JsonShape {
  return (value, member) => {
    if (!isObject(value)) throw wrong(member, "an object", value);
    for (const [name, shape] of Object.entries(shapes)) {
      // What every object inherits is no member.
      shape(Object.hasOwn(value, name) ? value[name] : undefined, `${member}.${name}`);
    }
  };
}

/** The JSON of a message, checked. `what` names it in errors. Fails with `invalid` on what is no JSON, or not of that shape. */
export function readJson(json: Buffer, what: string, shape: JsonShape): unknown {
  let value: unknown;
  try {
    value = JSON.parse(json.toString("utf8"));
  } catch (cause) {
    throw new ShoalError("invalid", `${what} must be JSON`, { cause });
  }
  shape(value, what);
  return value;
}

/** Any JSON value that is not too deep. */
export const anything: JsonShape = (value, member) => checkDepth(value, member, DEPTH_MAX);

function checkDepth(value: unknown, member: string, left: number): void {
  if (typeof value !== "object" || value === null) return;
  if (left === 0) throw new ShoalError("invalid", `${member} is more than ${DEPTH_MAX} levels deep`);
  for (const inner of Object.values(value)) checkDepth(inner, member, left - 1);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
