/** A range of numbers, or of instants: milliseconds and nanoseconds from there. Ends may be infinite. */
export interface Interval {
  readonly low: number;
  readonly lowRest: number;
  readonly lowOpen: boolean;
  readonly high: number;
  readonly highRest: number;
  readonly highOpen: boolean;
}

export function isWithin(interval: Interval, value: number, rest: number): boolean {
  const { low, high } = interval;
  if (value > low && value < high) return true;
  if (value < low || value > high) return false;
  if (value === low && (interval.lowOpen ? rest <= interval.lowRest : rest < interval.lowRest)) return false;
  return value !== high || !(interval.highOpen ? rest >= interval.highRest : rest > interval.highRest);
}

/** The least and the greatest number without a rest that lie in the interval; the least is greater when there are none. */
export function closedEnds(interval: Interval): { readonly least: number; readonly most: number } {
  const { low, high } = interval;
  return {
    least: isWithin(interval, low, 0) ? low : nextAbove(low),
    most: isWithin(interval, high, 0) ? high : -nextAbove(-high),
  };
}

const oneFloat = new Float64Array(1);
const floatBits = new BigInt64Array(oneFloat.buffer);

/** The next float64; no number at all above infinity. */
function nextAbove(value: number): number {
  if (value === Number.POSITIVE_INFINITY) return Number.NaN;
  if (value === 0) return Number.MIN_VALUE;
  oneFloat[0] = value;
  floatBits[0] = (floatBits[0] ?? 0n) + (value > 0 ? 1n : -1n);
  return oneFloat[0];
}
