/** From here on values are summed scaled down, so that no sum of two can overflow. */
const HUGE = 2 ** 960;
const HUGE_SCALE_BITS = 600;
const DOWN = 2 ** -HUGE_SCALE_BITS;

/** Every float64 is a whole multiple of 2^-1074. */
const SMALLEST_BITS = 1074;
const MANTISSA_BITS = 53;

/**
 * The sum of finite float64 values without any rounding, so that the order of adding does not matter. Whole numbers are
 * added plainly while all stays below 2^53; all others by Shewchuk's GROW-EXPANSION ("Adaptive Precision Floating-Point
 * Arithmetic and Fast Robust Geometric Predicates", 1997, section 2.4, zeros left out), which keeps the sum as a list of
 * floats that do not overlap; values from 2^960 on in a second list, scaled by 2^-600.
 */
export class ExactSum {
  #whole = 0;
  readonly #partials: number[] = [];
  readonly #hugePartials: number[] = [];

  add(value: number): void {
    const whole = this.#whole + value;
    if (Number.isSafeInteger(whole) && Number.isSafeInteger(value)) this.#whole = whole;
    else if (Math.abs(value) < HUGE) grow(this.#partials, value);
    else grow(this.#hugePartials, value * DOWN);
  }

  addAll(values: Iterable<number>): void {
    for (const value of values) this.add(value);
  }

  /** Finite floats whose exact sum this is: what another one adds to continue. */
  parts(): readonly number[] {
    const parts = this.#whole === 0 ? [] : [this.#whole];
    parts.push(...this.#partials);
    for (const scaled of this.#hugePartials) {
      let rest = scaled;
      // Sums may be beyond float64 in between: so many times the largest power of two that fits.
      for (const piece = Math.sign(rest) * 2 ** (1023 - HUGE_SCALE_BITS); Math.abs(rest) >= 2 * Math.abs(piece); ) {
        parts.push(piece / DOWN);
        rest -= piece;
      }
      parts.push(rest / DOWN);
    }
    return parts;
  }

  /** The nearest float64, ties to even; infinite beyond its range. */
  value(): number {
    if (this.#hugePartials.length === 0) {
      if (this.#partials.length === 0) return this.#whole;
      if (this.#partials.length === 1 && this.#whole === 0) return this.#partials[0] ?? 0;
    }
    return nearest(this.#units(), 1n);
  }

  /** `value() / count`; where only the sum is beyond float64, the nearest float64 to the mean. */
  mean(count: number): number {
    const sum = this.value();
    return Number.isFinite(sum) ? sum / count : nearest(this.#units(), BigInt(count));
  }

  /** The sum in multiples of 2^-1074. */
  #units(): bigint {
    let units = unitsOf(this.#whole);
    for (const part of this.#partials) units += unitsOf(part);
    for (const part of this.#hugePartials) units += unitsOf(part) << BigInt(HUGE_SCALE_BITS);
    return units;
  }
}

/** Adds to an expansion: floats of ascending magnitude that do not overlap. */
function grow(partials: number[], value: number): void {
  let sum = value;
  let kept = 0;
  for (let at = 0; at < partials.length; at++) {
    const part = partials[at] ?? 0;
    const larger = Math.abs(sum) < Math.abs(part) ? part : sum;
    const smaller = larger === sum ? part : sum;
    const added = larger + smaller;
    const lost = smaller - (added - larger);
    if (lost !== 0) partials[kept++] = lost;
    sum = added;
  }
  partials.length = kept;
  if (sum !== 0) partials.push(sum);
}

const float = new Float64Array(1);
const bits = new BigUint64Array(float.buffer);

function unitsOf(value: number): bigint {
  float[0] = Math.abs(value);
  const word = bits[0] ?? 0n;
  const exponent = word >> 52n;
  const fraction = word & ((1n << 52n) - 1n);
  const units = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return value < 0 ? -units : units;
}

/** The float64 nearest to `units * 2^-1074 / divisor`. */
function nearest(units: bigint, divisor: bigint): number {
  const isNegative = units < 0n;
  const size = isNegative ? -units : units;
  // Enough bits behind the quotient that its rest only says on which side of a tie it is.
  const quotient = (size << 64n) / divisor;
  let scaled = (quotient << 1n) | ((size << 64n) % divisor === 0n ? 0n : 1n);
  const exponent = -SMALLEST_BITS - 65;
  // Below the normal range a float has fewer bits: everything under 2^-1074 is rest.
  const shift = Math.max(scaled.toString(2).length - MANTISSA_BITS, -SMALLEST_BITS - exponent);
  const drop = BigInt(shift);
  const rest = scaled & ((1n << drop) - 1n);
  const half = 1n << (drop - 1n);
  scaled >>= drop;
  if (rest > half || (rest === half && (scaled & 1n) === 1n)) scaled += 1n;
  const magnitude = Number(scaled) * 2 ** (exponent + shift);
  return isNegative ? -magnitude : magnitude;
}
