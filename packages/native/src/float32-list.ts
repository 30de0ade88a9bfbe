import { addon } from "./addon.js";

interface Float32ListAddon {
  readFloat32List(
    bytes: Uint8Array,
    start: number,
    out: Float32Array,
    index: number,
    form: 0 | 1,
    reached: Uint32Array,
  ): undefined;
}

const native = addon as Float32ListAddon;
const reached = new Uint32Array(3);

/** A list that was read. */
export interface Float32ListRead {
  /** The place behind its closing bracket. */
  end: number;
  /** The index behind its last number. */
  index: number;
  /** All of them were spelled as they are printed (the shortest decimal of the float32, as JavaScript spells it), without spaces. */
  isShortest: boolean;
}

const read: Float32ListRead = { end: 0, index: 0, isShortest: true };

/**
 * Reads the list of numbers whose opening bracket stands before `start` to `out` from `index` on, each rounded as
 * `Math.fround(Number(text))` rounds: a list of JSON, or of a GraphQL text that stands in a JSON string (spaces, commas and escaped
 * tabs and line ends between numbers; never told to be the shortest). Undefined when anything else stands in it, or nothing, when
 * float32 cannot hold a number of it, and when there is no room. The result is reused by the next call. Throws a TypeError when
 * `start` is beyond the bytes.
 */
export function readFloat32List(
  bytes: Uint8Array,
  start: number,
  out: Float32Array,
  index: number,
  form: "json" | "graphql",
): Float32ListRead | undefined {
  native.readFloat32List(bytes, start, out, index, form === "json" ? 0 : 1, reached);
  read.end = reached[0] as number;
  if (read.end === 0) return undefined;
  read.index = reached[1] as number;
  read.isShortest = reached[2] === 1;
  return read;
}
