import { JsonNumber } from "./json-number.js";

/** Longer values are cut in messages. */
const PRINTED_CHARS_MAX = 500;

/** Of a value that a message names beside its kind, so much is shown. */
const DESCRIBED_CHARS_MAX = 60;

/** Control characters, and those that would hide or turn around what stands beside them. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A JSON object that was parsed and not checked further. */
export type UncheckedObject = { readonly [key: string]: unknown };

export function isUncheckedObject(value: unknown): value is UncheckedObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** A JSON value in messages, by its kind and, where it is a scalar, its value: `the number 5`, `a list`, `null`. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return `the string ${quoteText(value, DESCRIBED_CHARS_MAX)}`;
  if (typeof value === "boolean") return String(value);
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) return "a number beyond float64";
  if (typeof value !== "object" || value instanceof JsonNumber) {
    return `the number ${cut(String(value), DESCRIBED_CHARS_MAX)}`;
  }
  return Array.isArray(value) ? "a list" : "an object";
}

/** A text in double quotes, cut behind `charsMax` characters; what cannot be seen is escaped. */
export function quoteText(text: string, charsMax = DESCRIBED_CHARS_MAX): string {
  return escapeText(JSON.stringify(cut(text, charsMax)));
}

/** The text with control characters, and whatever else cannot be seen, as escapes; quotes and backslashes stay. */
export function escapeText(text: string): string {
  return text.replace(UNSEEN, (char) => ESCAPES[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A JSON value as messages show it between quotes of their own: a text bare, all else as JSON; cut when long. */
export function printValue(value: unknown): string {
  const text = typeof value === "string" ? value.slice(0, PRINTED_CHARS_MAX + 1) : print(value, PRINTED_CHARS_MAX + 1);
  return cut(escapeText(text), PRINTED_CHARS_MAX);
}

/** Stops when `room` is used up: printing a huge or deep value costs no more than printing its beginning. */
function print(value: unknown, room: number): string {
  if (room <= 0) return "";
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return `"${value.slice(0, room)}"`;
  if (Array.isArray(value)) return `[${joined(value, room, print)}]`;
  if (!isUncheckedObject(value)) return String(value);
  const entry = (key: string, left: number) => `"${key.slice(0, left)}":${print(value[key], left)}`;
  return `{${joined(Object.keys(value), room, entry)}}`;
}

function joined<T>(items: readonly T[], room: number, write: (item: T, room: number) => string): string {
  let text = "";
  for (const [index, item] of items.entries()) {
    const left = room - text.length - 1;
    if (left <= 0) break;
    text += (index === 0 ? "" : ",") + write(item, left);
  }
  return text;
}

function cut(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  // Half a character would be shown as an escape.
  const end = /[\ud800-\udbff]/.test(text.charAt(charsMax - 1)) ? charsMax - 1 : charsMax;
  return `${text.slice(0, end)}…`;
}
