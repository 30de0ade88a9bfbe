import { readFloat32List } from "@shoal/native";
import { readFloat32, type Spelling } from "./read-float32.js";

/** Numbers in one array that are read here; the model refuses longer vectors anyway. */
const NUMBERS_MAX = 65_536;

const COMMA = 0x2c;
const CLOSE_BRACKET = 0x5d;

/** An array of float32 numbers out of a JSON text. */
export interface ReadVector {
  readonly vector: Float32Array;
  /** The array as it stands in the text, where it is printed just so; undefined where that is not certain. */
  readonly json: Uint8Array | undefined;
  /** The place behind it. */
  readonly end: number;
}

const numbers = new Float32Array(NUMBERS_MAX);
const spelling: Spelling = { isShortest: true };

/**
 * Reads the array of float32 numbers whose bracket stands at `open`: the general parser makes an array of doubles of it, which
 * costs more than all the rest of a body. Undefined when there is anything else in it, or nothing.
 */
export function readVector(bytes: Buffer, open: number): ReadVector | undefined {
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
