import { readFloat32List } from "@shoal/native";

/** Numbers in one array that are read here; the model refuses longer vectors anyway. */
const NUMBERS_MAX = 65_536;

/** An array of float32 numbers out of a JSON text. */
export interface ReadVector {
  readonly vector: Float32Array;
  /** The array as it stands in the text, where it is printed just so; undefined where that is not certain. */
  readonly json: Uint8Array | undefined;
  /** The place behind it. */
  readonly end: number;
}

const numbers = new Float32Array(NUMBERS_MAX);

/**
 * Reads the array of float32 numbers whose bracket stands at `open`: the general parser makes an array of doubles of it, which
 * costs more than all the rest of a body. Undefined when there is anything else in it, or nothing.
 */
export function readVector(bytes: Buffer, open: number): ReadVector | undefined {
  const read = readFloat32List(bytes, open + 1, numbers, 0, "json");
  if (read === undefined) return undefined;
  const { end, index, isShortest } = read;
  return { vector: numbers.slice(0, index), json: isShortest ? bytes.subarray(open, end) : undefined, end };
}
