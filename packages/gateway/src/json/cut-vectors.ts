import { randomUUID } from "node:crypto";
import { readFloat32List } from "@shoal/native";
import { readFloat32, type Spelling } from "./read-float32.js";

/** Numbers in one array that are read here; the model refuses longer vectors anyway. */
const NUMBERS_MAX = 65_536;

const KEY = Buffer.from('"vector"');
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** An array of float32 numbers out of a JSON text. */
export interface CutVector {
  readonly vector: Float32Array;
  /** The array as it stands in the text, where it is printed just so; undefined where that is not certain. */
  readonly json: Uint8Array | undefined;
}

/** A JSON text without its vectors. */
export interface CutText {
  /** Where an array stood, there is a string now: `mark` and the index of the array in `vectors`. */
  readonly text: string;
  readonly vectors: readonly CutVector[];
  readonly mark: string;
}

/** Begins the strings that stand for arrays. Clients cannot know it. */
export const MARK = `${randomUUID()}:`;

const numbers = new Float32Array(NUMBERS_MAX);
const spelling: Spelling = { isShortest: true };

/**
 * Cuts every array of numbers behind a key `"vector"` out of a JSON text, wherever it stands: the general parser makes an
 * array of doubles of it, which costs more than all the rest of a body. An array with anything but float32 numbers in
 * it stays where it is. Undefined when there is nothing to cut. On a text that is no JSON the result is none either: a
 * quote inside of a string is escaped, so what is found here can only be a key.
 */
export function cutVectors(bytes: Buffer): CutText | undefined {
  const vectors: CutVector[] = [];
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
    vectors.push(array);
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
export function readVector(bytes: Buffer, open: number): (CutVector & { readonly end: number }) | undefined {
  spelling.isShortest = true;
  const array = readNumbers(bytes, open + 1);
  if (array === undefined) return undefined;
  const { count, end } = array;
  return { vector: numbers.slice(0, count), json: spelling.isShortest ? bytes.subarray(open, end) : undefined, end };
}

/** Reads the array whose first element is to stand at `start` into `numbers`. */
function readNumbers(bytes: Buffer, start: number): { readonly count: number; readonly end: number } | undefined {
  const first = behindSpace(bytes, start);
  const read = readFloat32List(bytes, first, numbers, 0);
  let count = read.index;
  let at = read.at;
  if (!read.isShortest || first > start) spelling.isShortest = false;
  // What the addon leaves, mostly nothing: line ends between numbers, and numbers that are hard to round.
  if (count === 0) {
    at = readNumber(bytes, at, count++);
    if (at < 0) return undefined;
  }
  while (bytes[at] !== CLOSE_BRACKET) {
    if (bytes[at] !== COMMA || count === NUMBERS_MAX) return undefined;
    at = readNumber(bytes, at + 1, count++);
    if (at < 0) return undefined;
  }
  return { count, end: at + 1 };
}

/** Reads the number behind white space at `start`. The place behind it and white space, or -1. */
function readNumber(bytes: Buffer, start: number, index: number): number {
  const first = behindSpace(bytes, start);
  const end = readFloat32(bytes, first, numbers, index, spelling);
  if (end < 0) return -1;
  const behind = behindSpace(bytes, end);
  if (first > start || behind > end) spelling.isShortest = false;
  return behind;
}

/** The first place from `start` on that is no white space of JSON. */
function behindSpace(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++;
  return at;
}
