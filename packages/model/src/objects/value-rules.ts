import type { ShoalError } from "../errors/shoal-error.js";
import type { PrimitiveDataType } from "../schema/class-definition.js";
import { isBase64 } from "./blob-value.js";
import { canonicalDate, isDate } from "./date-value.js";
import { parseGeoCoordinates } from "./geo-coordinates.js";
import type { Json } from "./json.js";
import { int64Of, JsonNumber } from "./json-number.js";
import { parsePhoneNumber } from "./phone-number.js";
import { printValue, typeName } from "./value-wording.js";

/** Makes the error for a value that breaks the rule. */
export type Refuse = (reason: string) => ShoalError;

/** Checks a parsed JSON value of one data type and gives it in its stored form. */
export type ValueRule = (value: unknown, refuse: Refuse) => Json;

export interface DataTypeRule {
  /** How messages name the data type: `invalid <name> property 'P' on class 'C': …`. */
  readonly name: string;
  readonly rule: ValueRule;
}

/** The rule of every primitive data type: the table of reference-rest 3.4, texts included. */
export const DATA_TYPE_RULES: Readonly<Record<PrimitiveDataType, DataTypeRule>> = {
  string: { name: "string", rule: parseText },
  text: { name: "text", rule: parseText },
  int: { name: "integer", rule: parseInteger },
  number: { name: "number", rule: parseFloat64 },
  boolean: { name: "boolean", rule: parseBoolean },
  date: { name: "date", rule: parseDate },
  geoCoordinates: { name: "geoCoordinates", rule: parseGeoCoordinates },
  phoneNumber: { name: "phoneNumber", rule: parsePhoneNumber },
  blob: { name: "blob", rule: parseBlob },
  "string[]": arrayRule("string", "a string array", stringElement),
  "text[]": arrayRule("string", "a string array", stringElement),
  "int[]": arrayRule("integer", "an integer array", integerElement),
  // The reference words number arrays as integer arrays, all but their name.
  "number[]": { ...arrayRule("integer", "an integer array", numberElement), name: "number array" },
  "boolean[]": arrayRule("boolean", "a boolean array", booleanElement),
  "date[]": arrayRule("date", "a date array", dateElement),
};

function parseText(value: unknown, refuse: Refuse): Json {
  if (typeof value === "string") return value;
  throw refuse(`not a string, but ${typeName(value)}`);
}

function parseInteger(value: unknown, refuse: Refuse): Json {
  const number = int64Of(value);
  if (typeof number === "number") return number;
  if (number === "no number") throw refuse(`requires an integer, the given value is '${printValue(value)}'`);
  throw refuse(`the JSON number '${value}' could not be converted to an int`);
}

function parseFloat64(value: unknown, refuse: Refuse): Json {
  const number = numberElement(value);
  if (number !== undefined) return number;
  if (typeof value !== "number" && !(value instanceof JsonNumber)) {
    throw refuse(`requires a float, the given value is '${printValue(value)}'`);
  }
  throw refuse(`the JSON number '${value}' could not be converted to a float.`);
}

function parseBoolean(value: unknown, refuse: Refuse): Json {
  if (typeof value === "boolean") return value;
  throw refuse(`not a bool, but ${typeName(value)}`);
}

function parseDate(value: unknown, refuse: Refuse): Json {
  const date = typeof value === "string" ? canonicalDate(value) : undefined;
  if (date !== undefined) return date;
  throw refuse(`requires a string with a RFC3339 formatted date, but the given value is '${printValue(value)}'`);
}

function parseBlob(value: unknown, refuse: Refuse): Json {
  if (typeof value !== "string") throw refuse(`not a blob base64 string, but ${typeName(value)}`);
  if (!isBase64(value)) throw refuse("not a valid blob base64 string");
  return value;
}

/** The rule of an array type; `element` gives an element's stored form, or undefined when it is none. */
function arrayRule(name: string, array: string, element: (value: unknown) => Json | undefined): DataTypeRule {
  const rule: ValueRule = (value, refuse) => {
    if (!Array.isArray(value)) throw refuse(`not ${array}, but ${typeName(value)}`);
    const stored: Json[] = [];
    for (const item of value as readonly unknown[]) {
      const parsed = element(item);
      if (parsed === undefined) throw refuse(`invalid ${name} array value: ${printValue(value)}`);
      stored.push(parsed);
    }
    return stored;
  };
  return { name: `${name} array`, rule };
}

function stringElement(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function integerElement(value: unknown): number | undefined {
  const number = int64Of(value);
  return typeof number === "number" ? number : undefined;
}

function numberElement(value: unknown): number | undefined {
  const number = typeof value === "number" ? value : value instanceof JsonNumber ? value.toNumber() : Number.NaN;
  // JSON.stringify writes -0 as 0, so it is not kept: adding 0 makes it one.
  return Number.isFinite(number) ? number + 0 : undefined;
}

function booleanElement(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** Kept as it was written: the reference does not re-format dates in arrays. */
function dateElement(value: unknown): string | undefined {
  return typeof value === "string" && isDate(value) ? value : undefined;
}
