import { ShoalError } from "../errors/shoal-error.js";
import type { Json } from "./json.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The members of a JSON object without parsing their values: the bytes of each, in their order. Takes 1 ns a byte, where
 * parsing and writing again take up to 40. `bytes` are UTF-8 and were written by JSON.stringify: there is no white space
 * in them. Fails with `dataLoss` on what is no such object; what stands inside of the values is not checked.
 */
export function jsonMembers(bytes: Uint8Array): Map<string, Uint8Array> {
  const members = new Map<string, Uint8Array>();
  if (bytes[0] !== OPEN_BRACE) throw unreadable(0);
  let at = 1;
  if (bytes[at] === CLOSE_BRACE) return members;
  for (;;) {
    if (bytes[at] !== QUOTE) throw unreadable(at);
    const colon = behindString(bytes, at);
    if (bytes[colon] !== COLON) throw unreadable(colon);
    const end = behindValue(bytes, colon + 1, CLOSE_BRACE);
    members.set(nameAt(bytes, at + 1, colon - 1), bytes.subarray(colon + 1, end));
    if (bytes[end] === CLOSE_BRACE) return members;
    at = end + 1;
  }
}

/** The value of one member; undefined when there is none. */
export function jsonMember(bytes: Uint8Array, name: string): Json | undefined {
  const member = jsonMembers(bytes).get(name);
  if (member === undefined) return undefined;
  return JSON.parse(Buffer.from(member.buffer, member.byteOffset, member.length).toString()) as Json;
}

/** The elements of a JSON list, in parts of so many bytes or little more, at least one in each. `bytes` as of {@link jsonMembers}. */
export function* jsonListParts(bytes: Uint8Array, partBytes: number): Generator<readonly Json[]> {
  const list = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let start = 1;
  for (const end of elementEnds(bytes)) {
    if (end - start < partBytes && bytes[end] === COMMA) continue;
    yield JSON.parse(`[${list.toString("utf8", start, end)}]`) as readonly Json[];
    start = end + 1;
  }
}

/** The places behind the elements of a JSON list: of a comma, or of the closing bracket. */
export function* elementEnds(bytes: Uint8Array): Generator<number> {
  if (bytes[0] !== OPEN_BRACKET) throw unreadable(0);
  if (bytes[1] === CLOSE_BRACKET) return;
  for (let at = 1; ; at++) {
    at = behindValue(bytes, at, CLOSE_BRACKET);
    yield at;
    if (bytes[at] === CLOSE_BRACKET) return;
  }
}

/** A JSON object of members whose values are JSON already, as text or as UTF-8. */
export function joinJsonMembers(members: Iterable<readonly [name: string, json: string | Uint8Array]>): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const [name, json] of members) {
    parts.push(Buffer.from(`${parts.length === 0 ? "{" : ","}${JSON.stringify(name)}:`));
    parts.push(typeof json === "string" ? Buffer.from(json) : json);
  }
  if (parts.length === 0) return Buffer.from("{}");
  parts.push(CLOSING);
  return Buffer.concat(parts);
}

const CLOSING = Buffer.from("}");
const utf8 = new TextDecoder();

/** The string between two quotes. Names are short and mostly ASCII, for which a decoder takes longer than this. */
function nameAt(bytes: Uint8Array, start: number, end: number): string {
  let name = "";
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x80 || byte === BACKSLASH)
      return JSON.parse(utf8.decode(bytes.subarray(start - 1, end + 1))) as string;
    name += String.fromCharCode(byte);
  }
  return name;
}

/** Behind the value that begins at `start`: the place of a comma or of what closes the object or list. */
function behindValue(bytes: Uint8Array, start: number, closing: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) at = behindString(bytes, at) - 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (depth === 0 && (byte === COMMA || byte === closing)) return at;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
  }
  throw unreadable(bytes.length);
}

/** Behind the closing quote of the string that begins at `start`. */
function behindString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at += 1;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  throw unreadable(bytes.length);
}

function unreadable(at: number): ShoalError {
  return new ShoalError("dataLoss", `stored properties cannot be read at byte ${at}`);
}
