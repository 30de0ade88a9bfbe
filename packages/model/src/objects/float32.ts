/** Significant decimal digits that every float32 can carry, and that tell any two apart. */
const DIGITS_ALWAYS = 6;
const DIGITS_ENOUGH = 9;
const SMALLEST_NORMAL = 2 ** -126;

/**
 * The number with the shortest decimal notation that is the same float32 as `value`: `52.3932696` gives `52.39327`.
 * Infinite when `value` is beyond the range of a float32.
 */
export function shortestFloat32(value: number): number {
  const single = Math.fround(value);
  if (!Number.isFinite(single) || single === 0) return single === 0 ? 0 : single;
  for (let digits = Math.abs(single) < SMALLEST_NORMAL ? 1 : DIGITS_ALWAYS; digits < DIGITS_ENOUGH; digits++) {
    const short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) return short;
  }
  return Number(single.toPrecision(DIGITS_ENOUGH));
}
