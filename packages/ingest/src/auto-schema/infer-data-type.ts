import {
  canonicalDate,
  isUncheckedObject,
  JsonNumber,
  type PrimitiveDataType,
  type UncheckedObject,
} from "@shoal/model";

/** What values become that can be several data types: `AUTOSCHEMA_DEFAULT_STRING`, `…_NUMBER`, `…_DATE`. */
export interface AutoSchemaTypes {
  readonly string: "text" | "string";
  readonly number: "number" | "int";
  /** Of a text that is a date; in lists it is always `date[]`. */
  readonly date: "date" | "string" | "text";
}

/** What a value says about the property that it stands in. */
export type Inference =
  | { readonly kind: "type"; readonly dataType: PrimitiveDataType }
  /** A list of references: their targets tell the classes. */
  | { readonly kind: "references" }
  /** Null and the empty list say nothing. */
  | { readonly kind: "nothing" }
  /** No property can hold it, and why. */
  | { readonly kind: "refused"; readonly reason: string };

const NOTHING: Inference = { kind: "nothing" };
const REFERENCES: Inference = { kind: "references" };
const MAP_REFUSED: Inference = {
  kind: "refused",
  reason: "a map must be geoCoordinates ('latitude' and 'longitude') or a phoneNumber ('input')",
};
const LIST_REFUSED: Inference = {
  kind: "refused",
  reason: "a list must hold texts, numbers, booleans, dates or references ('beacon')",
};

/**
 * The data type that holds a parsed JSON value (the table of reference-rest 9; maps and lists in lists are refused,
 * decisions.md). Whether the value fits that type in every detail is for the ordinary validation: the first element
 * that says anything speaks for its list.
 */
export function inferDataType(value: unknown, types: AutoSchemaTypes): Inference {
  if (value === null || value === undefined) return NOTHING;
  if (typeof value === "string") return type(canonicalDate(value) === undefined ? types.string : types.date);
  if (isNumber(value)) return type(types.number);
  if (typeof value === "boolean") return type("boolean");
  if (Array.isArray(value)) return value.length === 0 ? NOTHING : inferList(value, types);
  return isUncheckedObject(value) ? inferMap(value) : MAP_REFUSED;
}

function inferMap(value: UncheckedObject): Inference {
  if (has(value, "latitude") && has(value, "longitude")) return type("geoCoordinates");
  return has(value, "input") ? type("phoneNumber") : MAP_REFUSED;
}

function inferList(list: readonly unknown[], types: AutoSchemaTypes): Inference {
  for (const item of list) {
    if (typeof item === "string") return type(canonicalDate(item) === undefined ? `${types.string}[]` : "date[]");
    if (isNumber(item)) return type(`${types.number}[]`);
    if (typeof item === "boolean") return type("boolean[]");
    if (isUncheckedObject(item) && has(item, "beacon")) return REFERENCES;
  }
  return LIST_REFUSED;
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || value instanceof JsonNumber;
}

function has(value: UncheckedObject, key: string): boolean {
  return Object.hasOwn(value, key) && value[key] !== null;
}

function type(dataType: PrimitiveDataType): Inference {
  return { kind: "type", dataType };
}
