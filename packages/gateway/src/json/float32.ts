/**
 * Prints float32 values as the shortest decimal that reads back as the same float32 (0.3, not 0.30000001192092896),
 * spelled as JavaScript spells numbers. This is how vectors and coordinates leave the server (reference-rest 1.5).
 *
 * Method: a float32 has between 7 and 9 significant digits. The value is scaled to an integer of 8 digits, rounded and
 * checked by scaling it back; if it survives, 7 and 6 digits are tried, else 9: two tries for most values. With up to 6
 * digits the decimal is unique, so trailing zeros only have to be cut off. Nothing here allocates for values between 1e-6
 * and 1e9, the range of practically every embedding.
 */

/** Longest text that {@link writeFloat32} writes: sign, nine digits, point, exponent (`-1.23456789e-38`), rounded up. */
export const FLOAT32_CHARS_MAX = 24;

const LEAST_SCALED = 1e-6;
const MOST_SCALED = 1e9;

/** Powers of ten that are exact in a double. */
const POWERS: Float64Array = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

const bits = new Uint32Array(1);
const float = new Float32Array(bits.buffer);

/** The two ASCII digits of 0 to 99. */
const DIGIT_PAIRS = Uint8Array.from(
  { length: 200 },
  (_, at) => 48 + (at % 2 === 0 ? Math.floor(at / 20) : (at >> 1) % 10),
);

/**
 * The double whose JavaScript text is the shortest decimal of the float32 `value`; for responses that are serialised by
 * `JSON.stringify`. Equal to what {@link writeFloat32} prints.
 */
export function shortestFloat32(value: number): number {
  const magnitude = Math.abs(value);
  if (!(magnitude >= LEAST_SCALED && magnitude < MOST_SCALED)) return shortestByPrecision(value);
  const exponent = decimalExponent(magnitude);
  for (let digits = 6; digits <= 9; digits++) {
    const candidate = unscale(rescale(magnitude, digits - 1 - exponent), digits - 1 - exponent);
    if (isInside(candidate, magnitude)) return value < 0 ? -candidate : candidate;
  }
  return shortestByPrecision(value);
}

/**
 * Writes `value`, which must be a float32, to `target` at `at` as ASCII; the response is the place behind it. The caller
 * keeps {@link FLOAT32_CHARS_MAX} bytes free. Zero is `0` whatever its sign, NaN and infinities are `null`.
 */
export function writeFloat32(target: Uint8Array, at: number, value: number): number {
  let magnitude = value;
  let end = at;
  if (value < 0) {
    magnitude = -value;
    target[end++] = 45;
  }
  if (!(magnitude >= LEAST_SCALED && magnitude < MOST_SCALED)) return writeText(target, at, textOf(value));
  const exponent = decimalExponent(magnitude);
  let scale = 7 - exponent;
  let scaled = rescale(magnitude, scale);
  if (isInside(unscale(scaled, scale), magnitude)) {
    for (const least = scale - 2; scale > least; scale--) {
      const shorter = rescale(magnitude, scale - 1);
      if (!isInside(unscale(shorter, scale - 1), magnitude)) break;
      scaled = shorter;
    }
    return writeScaled(target, end, scaled, scale);
  }
  scaled = rescale(magnitude, ++scale);
  if (isInside(unscale(scaled, scale), magnitude)) return writeScaled(target, end, scaled, scale);
  return writeText(target, at, textOf(value));
}

/** `[0.1,-2,3.5e-7]` as ASCII at `at`; the caller keeps {@link float32ArrayBytesMax} free. The place behind it. */
export function writeFloat32Array(target: Uint8Array, at: number, vector: Float32Array): number {
  let end = at;
  target[end++] = 91;
  for (let i = 0; i < vector.length; i++) {
    if (i > 0) target[end++] = 44;
    end = writeFloat32(target, end, vector[i] ?? 0);
  }
  target[end++] = 93;
  return end;
}

/** What {@link writeFloat32Array} needs at most for a vector of that many dimensions, in bytes. */
export function float32ArrayBytesMax(dimensions: number): number {
  return 2 + dimensions * (FLOAT32_CHARS_MAX + 1);
}

/** A vector as a JSON array. */
export function float32ArrayToJson(vector: Float32Array): string {
  const needed = float32ArrayBytesMax(vector.length);
  const target = needed <= scratch.length ? scratch : Buffer.allocUnsafe(needed);
  return target.toString("latin1", 0, writeFloat32Array(target, 0, vector));
}

/** Reused: everything here is synchronous. Holds vectors of up to 2,620 dimensions. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024);

/** `floor(log10(magnitude))` for 1e-6 <= magnitude < 1e9. */
function decimalExponent(magnitude: number): number {
  if (magnitude < 1) {
    if (magnitude >= 1e-1) return -1;
    if (magnitude >= 1e-2) return -2;
    if (magnitude >= 1e-3) return -3;
    if (magnitude >= 1e-4) return -4;
    return magnitude >= 1e-5 ? -5 : -6;
  }
  if (magnitude < 10) return 0;
  if (magnitude < 1e2) return 1;
  let exponent = 2;
  while (exponent < 8 && magnitude >= (POWERS[exponent + 1] ?? 0)) exponent++;
  return exponent;
}

/** `magnitude * 10^scale`, rounded to an integer; scale is between -3 and 14. */
function rescale(magnitude: number, scale: number): number {
  return Math.floor((scale >= 0 ? magnitude * (POWERS[scale] ?? 1) : magnitude / (POWERS[-scale] ?? 1)) + 0.5);
}

/** The double nearest to `scaled / 10^scale`: both operands are exact, so one rounding. */
function unscale(scaled: number, scale: number): number {
  return scale >= 0 ? scaled / (POWERS[scale] ?? 1) : scaled * (POWERS[-scale] ?? 1);
}

/**
 * Whether `candidate` reads back as the float32 `magnitude`, also by a reader that goes through float64 first: a
 * candidate halfway between two float32 values is refused, as the decimal behind it may lie on the other side.
 */
function isInside(candidate: number, magnitude: number): boolean {
  if (Math.fround(candidate) !== magnitude) return false;
  if (candidate === magnitude) return true;
  // A halfway point has its 25th significant bit set and none below: twice its distance reaches the neighbour exactly.
  const neighbour = candidate + (candidate - magnitude);
  return Math.fround(neighbour) !== neighbour || neighbour === magnitude;
}

/** Writes the decimal `scaled / 10^scale` without trailing zeros; `scaled` has at most nine digits. */
function writeScaled(target: Uint8Array, at: number, scaledValue: number, scaleValue: number): number {
  let scaled = scaledValue | 0;
  let scale = scaleValue;
  while (scale > 0) {
    const tenth = (scaled / 10) | 0;
    if (tenth * 10 !== scaled) break;
    scaled = tenth;
    scale--;
  }
  if (scale <= 0) return writeText(target, at, String(scaled * (POWERS[-scale] ?? 1)));
  const digits = digitCount(scaled);
  let end = at;
  if (digits <= scale) {
    target[end++] = 48;
    target[end++] = 46;
    for (let zeros = scale - digits; zeros > 0; zeros--) target[end++] = 48;
    writeDigits(target, end, scaled, digits);
    return end + digits;
  }
  // The point goes between digits: the integer part, then the fraction with its leading zeros.
  const power = POWERS[scale] ?? 1;
  const integer = Math.floor(scaled / power);
  const integerDigits = digits - scale;
  writeDigits(target, end, integer, integerDigits);
  end += integerDigits;
  target[end++] = 46;
  writeDigits(target, end, scaled - integer * power, scale);
  return end + scale;
}

/** Exactly `count` digits, leading zeros included. */
function writeDigits(target: Uint8Array, at: number, value: number, count: number): void {
  let rest = value | 0;
  let end = at + count;
  while (end - at >= 2) {
    const quotient = (rest / 100) | 0;
    const pair = (rest - quotient * 100) << 1;
    rest = quotient;
    target[--end] = DIGIT_PAIRS[pair + 1] ?? 48;
    target[--end] = DIGIT_PAIRS[pair] ?? 48;
  }
  if (end > at) target[at] = 48 + rest;
}

function digitCount(value: number): number {
  if (value < 100_000) {
    if (value < 100) return value < 10 ? 1 : 2;
    if (value < 1000) return 3;
    return value < 10_000 ? 4 : 5;
  }
  if (value < 10_000_000) return value < 1_000_000 ? 6 : 7;
  return value < 100_000_000 ? 8 : 9;
}

function textOf(value: number): string {
  return Number.isFinite(value) ? String(shortestByPrecision(value)) : "null";
}

function writeText(target: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) target[at + i] = text.charCodeAt(i);
  return at + text.length;
}

/** The slow way, for very small and very large values. */
function shortestByPrecision(value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value === 0 ? 0 : value;
  float[0] = value;
  for (let digits = 1; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === float[0]) return candidate;
  }
  return Number(value.toPrecision(9));
}
