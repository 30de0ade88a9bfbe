import { addon } from "./addon.js";

interface Float32ListAddon {
  readFloat32List(bytes: Uint8Array, start: number, out: Float32Array, index: number, reached: Uint32Array): undefined;
}

const native = addon as Float32ListAddon;
const reached = new Uint32Array(3);

/** How far a list was read. */
export interface Float32ListRead {
  /** The comma or closing bracket behind the last number that was read; `start` when there is none. */
  at: number;
  /** The index behind the last number that was read. */
  index: number;
  /** All of them were spelled as they are printed (the shortest decimal of the float32, as JavaScript spells it), without spaces. */
  isShortest: boolean;
}

const read: Float32ListRead = { at: 0, index: 0, isShortest: true };

/**
 * Reads the numbers of a list, the first of which stands at `start` (grammar of JSON and GraphQL alike), to `out` from
 * `index` on, each rounded as `Math.fround(Number(text))` rounds. Between them may be one comma and any spaces. It ends
 * at the closing bracket, or at the first number that is written otherwise, that takes more than doubles to round, or for which
 * there is no room; that is for the caller to read. The answer is reused by the next call. Throws a TypeError when `start` is
 * beyond the bytes.
 */
export function readFloat32List(bytes: Uint8Array, start: number, out: Float32Array, index: number): Float32ListRead {
  native.readFloat32List(bytes, start, out, index, reached);
  read.at = reached[0] as number;
  read.index = reached[1] as number;
  read.isShortest = reached[2] === 1;
  return read;
}
