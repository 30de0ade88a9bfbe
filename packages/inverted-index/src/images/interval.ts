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
