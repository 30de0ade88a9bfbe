import { randomUUID } from "node:crypto";
import { readFloat32 } from "./read-float32.js";

/** Numbers in one array that are read here; the model refuses longer vectors anyway. */
const NUMBERS_MAX = 65_536;

const KEY = Buffer.from('"vector"');
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** A JSON text without its vectors. */
export interface CutText {
  /** Where an array stood, there is a string now: `mark` and the index of the array in `vectors`. */
  readonly text: string;
  readonly vectors: readonly Float32Array[];
  readonly mark: string;
}

/** Begins the strings that stand for arrays. Clients cannot know it. */
export const MARK = `${randomUUID()}:`;

const numbers = new Float32Array(NUMBERS_MAX);

/**
 * Cuts every array of numbers behind a key `"vector"` out of a JSON text, wherever it stands: the general parser makes an
 * array of doubles of it, which costs more than all the rest of a body. An array with anything but float32 numbers in
 * it stays where it is. Undefined when there is nothing to cut. On a text that is no JSON the result is none either: a
 * quote inside of a string is escaped, so what is found here can only be a key.
 */
export function cutVectors(bytes: Buffer): CutText | undefined {
  const vectors: Float32Array[] = [];
  let text = "";
  let kept = 0;
  for (let at = bytes.indexOf(KEY); at !== -1; at = bytes.indexOf(KEY, at)) {
    const key = at;
    at += KEY.length;
    if (bytes[key - 1] === BACKSLASH) continue;
    const colon = behindSpace(bytes, at);
    if (bytes[colon] !== COLON) continue;
    const open = behindSpace(bytes, colon + 1);
    if (bytes[open] !== OPEN_BRACKET) continue;
    const array = readVector(bytes, open);
    if (array === undefined) continue;
    text += bytes.toString("utf8", kept, open) + vectorMark(vectors.length);
    vectors.push(array.vector);
    kept = array.end;
    at = kept;
  }
  if (vectors.length === 0) return undefined;
  return { text: text + bytes.toString("utf8", kept), vectors, mark: MARK };
}

/** The string that stands for the vector with that index, as JSON. */
export function vectorMark(index: number): string {
  return `"${MARK}${index}"`;
}

/** The array of float32 numbers whose bracket stands at `open`, and the place behind it; undefined when it is none. */
export function readVector(
  bytes: Buffer,
  open: number,
): { readonly vector: Float32Array; readonly end: number } | undefined {
  const array = readNumbers(bytes, open + 1);
  return array && { vector: numbers.slice(0, array.count), end: array.end };
}

/** Reads the array whose first element is to stand at `start` into `numbers`. */
function readNumbers(bytes: Buffer, start: number): { readonly count: number; readonly end: number } | undefined {
  let at = behindSpace(bytes, start);
  for (let count = 0; count < NUMBERS_MAX; ) {
    at = readFloat32(bytes, at, numbers, count++);
    if (at < 0) return undefined;
    at = behindSpace(bytes, at);
    if (bytes[at] === CLOSE_BRACKET) return { count, end: at + 1 };
    if (bytes[at] !== COMMA) return undefined;
    at = behindSpace(bytes, at + 1);
  }
  return undefined;
}

/** The first place from `start` on that is no white space of JSON. */
function behindSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}
