import { POSTING_CHUNK_DOCUMENTS } from "../index-keys.js";

/** Documents of a block: their values are sorted together. */
export const BLOCK_DOCUMENTS = POSTING_CHUNK_DOCUMENTS;
export const BLOCK_SHIFT = 12;

/** Whole numbers within so wide a span are sorted together with their documents, in one native sort. */
const PACKED_SPAN_MAX = 2 ** 41;

/** The values of a block in ascending order, and whose they are. */
export interface SortedValues {
  readonly values: Float64Array;
  /** Offsets of the documents in the block; one with several values stands there several times. */
  readonly offsets: Uint16Array;
}

/** `count` values at `values` of the documents at `offsets`. */
export function sortValues(values: Float64Array, offsets: Uint16Array): SortedValues {
  return packed(values, offsets) ?? compared(values, offsets);
}

function packed(values: Float64Array, offsets: Uint16Array): SortedValues | undefined {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (!Number.isInteger(value)) return undefined;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (!(most - least < PACKED_SPAN_MAX) || !Number.isSafeInteger(least)) return undefined;
  const keys = values.map((value, at) => (value - least) * BLOCK_DOCUMENTS + (offsets[at] ?? 0)).sort();
  const sorted = new Float64Array(keys.length);
  const owners = new Uint16Array(keys.length);
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] ?? 0;
    const above = Math.floor(key / BLOCK_DOCUMENTS);
    sorted[at] = above + least;
    owners[at] = key - above * BLOCK_DOCUMENTS;
  }
  return { values: sorted, offsets: owners };
}

function compared(values: Float64Array, offsets: Uint16Array): SortedValues {
  const order = Uint32Array.from(values.keys()).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  return {
    values: Float64Array.from(order, (at) => values[at] ?? 0),
    offsets: Uint16Array.from(order, (at) => offsets[at] ?? 0),
  };
}

/** The first place whose value is at least `bound`. */
export function lowerPlace(values: Float64Array, bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) < bound) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first place whose value is above `bound`. */
export function upperPlace(values: Float64Array, bound: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((values[middle] ?? 0) <= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
