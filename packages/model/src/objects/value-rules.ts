import type { ShoalError } from "../errors/shoal-error.js";
import type { PrimitiveDataType } from "../schema/class-definition.js";
import { isBase64 } from "./blob-value.js";
import { canonicalDate, isDate } from "./date-value.js";
import { parseGeoCoordinates } from "./geo-coordinates.js";
import type { Json } from "./json.js";
import { int64Of, JsonNumber } from "./json-number.js";
import { parsePhoneNumber } from "./phone-number.js";
import { describeValue } from "./value-wording.js";

/** Makes the error for a value that breaks the rule. */
export type Refuse = (reason: string) => ShoalError;

/** Checks a parsed JSON value of one data type and gives it in its stored form. */
export type ValueRule = (value: unknown, refuse: Refuse) => Json;

export interface DataTypeRule {
  /** How messages name the data type: `invalid <name> property 'P' on class 'C': …`. */
  readonly name: string;
  readonly rule: ValueRule;
}

/** How an integer is written; `1.0` and `1e2` are none. */
const INTEGER_RULE = "of at most 64 bits, without fraction or exponent";

/** The rule of every primitive data type: the table of reference-rest 3.4. */
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
  "string[]": arrayRule("string", "a string", stringElement),
  "text[]": arrayRule("string", "a string", stringElement),
  "int[]": arrayRule("integer", `an integer ${INTEGER_RULE}`, integerElement),
  "number[]": arrayRule("number", "a number within the range of float64", numberElement),
  "boolean[]": arrayRule("boolean", "true or false", booleanElement),
  "date[]": arrayRule("date", "a string with an RFC 3339 date such as 2017-07-21T17:32:28Z", dateElement),
};

function parseText(value: unknown, refuse: Refuse): Json {
  if (typeof value === "string") return value;
  throw refuse(`not a string, but ${describeValue(value)}`);
}

function parseInteger(value: unknown, refuse: Refuse): Json {
  const number = int64Of(value);
  if (typeof number === "number") return number;
  throw refuse(`requires an integer ${INTEGER_RULE}, but got ${describeValue(value)}`);
}

function parseFloat64(value: unknown, refuse: Refuse): Json {
  const number = numberElement(value);
  if (number !== undefined) return number;
  if (typeof value !== "number" && !(value instanceof JsonNumber)) {
    throw refuse(`requires a number, but got ${describeValue(value)}`);
  }
  throw refuse(`requires a number within the range of float64, but got ${describeValue(value)}`);
}

function parseBoolean(value: unknown, refuse: Refuse): Json {
  if (typeof value === "boolean") return value;
  throw refuse(`not true or false, but ${describeValue(value)}`);
}

function parseDate(value: unknown, refuse: Refuse): Json {
  const date = typeof value === "string" ? canonicalDate(value) : undefined;
  if (date !== undefined) return date;
  throw refuse(`requires a string with an RFC 3339 date such as 2017-07-21T17:32:28Z, but got ${describeValue(value)}`);
}

function parseBlob(value: unknown, refuse: Refuse): Json {
  if (typeof value !== "string") throw refuse(`not a string in base64, but ${describeValue(value)}`);
  if (!isBase64(value)) throw refuse(`not valid base64: ${describeValue(value)}`);
  return value;
}

/** The rule of an array type; `element` gives an element's stored form, or undefined when it is not what is `wanted`. */
function arrayRule(name: string, wanted: string, element: (value: unknown) => Json | undefined): DataTypeRule {
  const rule: ValueRule = (value, refuse) => {
    if (!Array.isArray(value)) throw refuse(`not a list, but ${describeValue(value)}`);
    const stored: Json[] = [];
    for (const item of value as readonly unknown[]) {
      const parsed = element(item);
      if (parsed === undefined) throw refuse(`element ${stored.length} is not ${wanted}, but ${describeValue(item)}`);
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
