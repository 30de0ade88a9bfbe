import type { DistinctNumbers } from "@shoal/model";
import type { Work, Yielder } from "@shoal/runtime";

/** So many are sorted at once: two milliseconds. */
const RUN_VALUES = 16_384;
const SORT_STEPS = 40;
const MERGE_STEPS = 2;
const STRIDE = 8_192;

/** How often each number occurs. The list is sorted in place. */
export function* distinctNumbers(list: Float64Array, yielder: Yielder): Work<DistinctNumbers> {
  const sorted = yield* sortNumbers(list, yielder);
  const values = new Float64Array(sorted.length);
  const counts = new Float64Array(sorted.length);
  let filled = 0;
  for (let at = 0; at < sorted.length; at++) {
    const value = sorted[at] ?? 0;
    if (filled === 0 || value !== values[filled - 1]) values[filled++] = value;
    counts[filled - 1] = (counts[filled - 1] ?? 0) + 1;
    if ((at + 1) % STRIDE === 0 && isDue(yielder)) yield yielder.pause();
  }
  return { values: values.slice(0, filled), counts: counts.slice(0, filled) };
}

/** Ascending, in steps: runs that are sorted natively, then merged two by two. */
function* sortNumbers(list: Float64Array, yielder: Yielder): Work<Float64Array> {
  for (let start = 0; start < list.length; start += RUN_VALUES) {
    const run = list.subarray(start, start + RUN_VALUES);
    run.sort();
    yielder.count(run.length * SORT_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
  let from = list;
  let into = list.length > RUN_VALUES ? new Float64Array(list.length) : list;
  for (let run = RUN_VALUES; run < list.length; run *= 2) {
    for (let start = 0; start < list.length; start += 2 * run) {
      yield* mergeRuns(
        from,
        into,
        start,
        Math.min(start + run, list.length),
        Math.min(start + 2 * run, list.length),
        yielder,
      );
    }
    [from, into] = [into, from];
  }
  return from;
}

function* mergeRuns(
  from: Float64Array,
  into: Float64Array,
  start: number,
  middle: number,
  end: number,
  yielder: Yielder,
): Work<void> {
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const takeLeft = left < middle && (right >= end || (from[left] ?? 0) <= (from[right] ?? 0));
    into[at] = (takeLeft ? from[left++] : from[right++]) ?? 0;
    if ((at + 1) % STRIDE === 0 && isDue(yielder)) yield yielder.pause();
  }
}

function isDue(yielder: Yielder): boolean {
  yielder.count(STRIDE * MERGE_STEPS);
  return yielder.isDue;
}
