import { ShoalError } from "@shoal/model";

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Strings longer than this are searched by the runtime. */
const SHORT_STRING = 40;

/**
 * Finds the values of some members of the JSON object that begins at `start` of `json`, without building any value.
 * `spans` receives for the i-th of `names` (ASCII) the place of its value at 2i and the place behind it at 2i + 1, or -1
 * for both. Of a member that stands twice the last one counts, as in `JSON.parse`. `places`, when given, is added where all
 * members are, for {@link findPlaced}. Fails with `dataLoss` on what is no JSON object.
 */
export function findMembers(
  json: Uint8Array,
  start: number,
  names: readonly Uint8Array[],
  spans: Int32Array,
  places?: number[],
): void {
  spans.fill(-1, 0, names.length * 2);
  let at = behindSpace(json, start);
  if (json[at] !== OPEN_BRACE) damaged();
  at = behindSpace(json, at + 1);
  if (json[at] === CLOSE_BRACE) return;
  for (;;) {
    if (json[at] !== QUOTE) damaged();
    const nameEnd = behindString(json, at);
    const nameStart = at + 1;
    const index = indexOfName(json, nameStart, nameEnd - 1, names);
    at = behindSpace(json, nameEnd);
    if (json[at] !== COLON) damaged();
    at = behindSpace(json, at + 1);
    const end = behindValue(json, at);
    places?.push(nameStart, nameEnd - 1, at, end);
    if (index >= 0) {
      spans[index * 2] = at;
      spans[index * 2 + 1] = end;
    }
    at = behindSpace(json, end);
    if (json[at] === CLOSE_BRACE) return;
    if (json[at] !== COMMA) damaged();
    at = behindSpace(json, at + 1);
  }
}

/** The same for an object whose members are known: reads their names only. */
export function findPlaced(
  json: Uint8Array,
  places: readonly number[],
  names: readonly Uint8Array[],
  spans: Int32Array,
): void {
  spans.fill(-1, 0, names.length * 2);
  for (let at = 0; at < places.length; at += 4) {
    const index = indexOfName(json, places[at] as number, places[at + 1] as number, names);
    if (index < 0) continue;
    spans[index * 2] = places[at + 2] as number;
    spans[index * 2 + 1] = places[at + 3] as number;
  }
}

function indexOfName(json: Uint8Array, start: number, end: number, names: readonly Uint8Array[]): number {
  const length = end - start;
  for (let index = 0; index < names.length; index++) {
    const name = names[index] as Uint8Array;
    if (name.length !== length) continue;
    let i = 0;
    while (i < length && name[i] === json[start + i]) i++;
    if (i === length) return index;
  }
  return -1;
}

function behindValue(json: Uint8Array, start: number): number {
  const first = json[start];
  if (first === QUOTE) return behindString(json, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return behindNested(json, start);
  let at = start;
  while (isScalarByte(json[at])) at++;
  return at === start ? damaged() : at;
}

/** Digits, letters, `+`, `-` and `.`: numbers and the three words. */
function isScalarByte(byte: number | undefined): boolean {
  return byte !== undefined && byte > COMMA && byte < CLOSE_BRACE && byte !== CLOSE_BRACKET ? true : byte === 43;
}

function behindNested(json: Uint8Array, start: number): number {
  let depth = 0;
  let at = start;
  while (at < json.length) {
    const byte = json[at];
    if (byte === QUOTE) {
      at = behindString(json, at);
      continue;
    }
    at++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at;
  }
  return damaged();
}

/** `start` is at the opening quote; the place behind the closing one. */
function behindString(json: Uint8Array, start: number): number {
  let at = start + 1;
  const shortEnd = Math.min(at + SHORT_STRING, json.length);
  while (at < shortEnd) {
    const byte = json[at];
    if (byte === QUOTE) return at + 1;
    at += byte === BACKSLASH ? 2 : 1;
  }
  for (;;) {
    const quote = json.indexOf(QUOTE, at);
    if (quote < 0) damaged();
    let backslashes = 0;
    while (quote - backslashes > at && json[quote - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function behindSpace(json: Uint8Array, start: number): number {
  let at = start;
  while (json[at] === 32 || json[at] === 10 || json[at] === 13 || json[at] === 9) at++;
  return at;
}

function damaged(): never {
  throw new ShoalError("dataLoss", "the stored properties of an object are no JSON object");
}
