import type { DistinctNumbers } from "@shoal/model";
import type { Yielder } from "@shoal/runtime";

/** So many entries are merged between two checks whether to yield. */
const STRIDE = 8_192;

export interface MedianAndMode {
  /** The lower middle of an even count. */
  readonly median: number;
  /** The smallest of the most frequent. */
  readonly mode: number;
}

/** Undefined when there is no value. */
export async function medianAndMode(
  parts: readonly DistinctNumbers[],
  yielder: Yielder,
): Promise<MedianAndMode | undefined> {
  const { values, counts } = await mergeAll(parts, yielder);
  if (values.length === 0) return undefined;
  const total = await totalOf(counts, yielder);
  const middle = Math.ceil(total / 2);
  let median: number | undefined;
  let modeAt = 0;
  let passed = 0;
  for (let at = 0; at < values.length; at++) {
    const count = counts[at] ?? 0;
    passed += count;
    if (median === undefined && passed >= middle) median = values[at];
    if (count > (counts[modeAt] ?? 0)) modeAt = at;
    if ((at + 1) % STRIDE === 0 && isDue(yielder)) await yielder.next();
  }
  return { median: median ?? Number.NaN, mode: values[modeAt] ?? Number.NaN };
}

async function totalOf(counts: Float64Array, yielder: Yielder): Promise<number> {
  let total = 0;
  for (let at = 0; at < counts.length; at++) {
    total += counts[at] ?? 0;
    if ((at + 1) % STRIDE === 0 && isDue(yielder)) await yielder.next();
  }
  return total;
}

/** Two at a time, so that every value is moved as often as the logarithm of the number of parts. */
async function mergeAll(parts: readonly DistinctNumbers[], yielder: Yielder): Promise<DistinctNumbers> {
  let left = parts.filter(({ values }) => values.length > 0);
  while (left.length > 1) {
    const merged: DistinctNumbers[] = [];
    for (let at = 0; at < left.length; at += 2) {
      const [a, b] = left.slice(at, at + 2);
      if (a !== undefined) merged.push(b === undefined ? a : await mergeTwo(a, b, yielder));
    }
    left = merged;
  }
  return left[0] ?? { values: new Float64Array(), counts: new Float64Array() };
}

async function mergeTwo(a: DistinctNumbers, b: DistinctNumbers, yielder: Yielder): Promise<DistinctNumbers> {
  const values = new Float64Array(a.values.length + b.values.length);
  const counts = new Float64Array(values.length);
  let filled = 0;
  let atA = 0;
  let atB = 0;
  while (atA < a.values.length || atB < b.values.length) {
    const valueA = a.values[atA] ?? Number.POSITIVE_INFINITY;
    const valueB = b.values[atB] ?? Number.POSITIVE_INFINITY;
    let count = 0;
    values[filled] = Math.min(valueA, valueB);
    if (valueA <= valueB) count += a.counts[atA++] ?? 0;
    if (valueB <= valueA) count += b.counts[atB++] ?? 0;
    counts[filled++] = count;
    if (filled % STRIDE === 0 && isDue(yielder)) await yielder.next();
  }
  return { values: values.subarray(0, filled), counts: counts.subarray(0, filled) };
}

function isDue(yielder: Yielder): boolean {
  yielder.count(STRIDE);
  return yielder.isDue;
}
