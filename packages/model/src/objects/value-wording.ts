import { JsonNumber } from "./json-number.js";

/** Longer values are cut in messages. */
const PRINTED_CHARS_MAX = 500;

/** A JSON object that was parsed and not checked further. */
export type UncheckedObject = { readonly [key: string]: unknown };

export function isUncheckedObject(value: unknown): value is UncheckedObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** The name of a JSON value's type in messages, as the reference words it (reference-rest 3.4). */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (typeof value === "string") return "string";
  if (typeof value === "number" || value instanceof JsonNumber) return "json.Number";
  if (typeof value === "boolean") return "bool";
  return Array.isArray(value) ? "[]interface {}" : "map[string]interface {}";
}

/** A JSON value as messages show it: text and numbers bare, lists `[a b]`, objects `map[a:1 b:2]`; cut when long. */
export function printValue(value: unknown): string {
  return cut(print(value, PRINTED_CHARS_MAX + 1));
}

/** The same with types: `map[string]interface {}{"a":"1"}`, as the reference shows objects that are no references. */
export function printTypedValue(value: unknown): string {
  return cut(printTyped(value, PRINTED_CHARS_MAX + 1));
}

function print(value: unknown, room: number): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${joined(value, " ", room, print)}]`;
  if (!isUncheckedObject(value)) return String(value);
  const entry = (key: string, left: number) => `${key}:${print(value[key], left)}`;
  return `map[${joined(Object.keys(value).sort(), " ", room, entry)}]`;
}

function printTyped(value: unknown, room: number): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return `[]interface {}{${joined(value, ", ", room, printTyped)}}`;
  if (!isUncheckedObject(value)) return `"${String(value)}"`;
  const entry = (key: string, left: number) => `${JSON.stringify(key)}:${printTyped(value[key], left)}`;
  return `map[string]interface {}{${joined(Object.keys(value).sort(), ", ", room, entry)}}`;
}

/** Stops when `room` is used up: printing a huge or deep value costs no more than printing its beginning. */
function joined<T>(
  items: readonly T[],
  separator: string,
  room: number,
  write: (item: T, room: number) => string,
): string {
  let text = "";
  for (const [index, item] of items.entries()) {
    const left = room - text.length - 1;
    if (left <= 0) break;
    text += (index === 0 ? "" : separator) + write(item, left);
  }
  return text;
}

function cut(text: string): string {
  return text.length <= PRINTED_CHARS_MAX ? text : `${text.slice(0, PRINTED_CHARS_MAX)}…`;
}
