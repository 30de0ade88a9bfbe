const MINUS = 45;
const POINT = 46;
const ZERO = 48;

/** What is noted of numbers while they are read. */
export interface Spelling {
  /** Still true: all of them were spelled as `writeFloat32` prints what they were read to. Never falsely true. */
  isShortest: boolean;
}

/**
 * Integers below it, scaled by any power of ten, are farther apart than float32 values are there: one decimal for each
 * float32 at most, and none that is shorter when it does not end in zero.
 */
const SHORTEST_MANTISSA_END = 2 ** 23;

/** JavaScript spells smaller values with an exponent. */
const LEAST_PLAIN = 1e-6;

/** Digits that are kept: any number of so many is exact in a double. */
const DIGITS_MAX = 15;

/** Powers of ten that are exact in a double. */
const POWERS = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * Reads the number that begins at `start` (grammar of JSON and GraphQL alike: `-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?`)
 * and stores it at `index` of `out`, rounded as `Math.fround(Number(text))` rounds. The answer is the place behind it,
 * or -1 when there is no such number or float32 cannot hold it. What follows the number is the caller's to judge. `spelling`
 * is told when the number may be printed otherwise than it stands there.
 *
 * Method (Clinger's fast path): up to 15 digits and a power of ten up to 22 are both exact in a double, so their product
 * or quotient is rounded once. Further digits are dropped when the interval in which the number then lies rounds to one
 * float32; else, and for larger exponents, `Number` decides.
 */
export function readFloat32(
  bytes: Uint8Array,
  start: number,
  out: Float32Array,
  index: number,
  spelling?: Spelling,
): number {
  let at = start;
  const isNegative = bytes[at] === MINUS;
  if (isNegative) at++;
  let digit = (bytes[at] as number) - ZERO;
  if (!(digit >= 0 && digit <= 9)) return -1;
  let mantissa = 0;
  let digits = 0;
  let exponent = 0;
  if (digit === 0) {
    digit = (bytes[++at] as number) - ZERO;
    if (digit >= 0 && digit <= 9) return -1;
  }
  while (digit >= 0 && digit <= 9) {
    if (digits < DIGITS_MAX) mantissa = mantissa * 10 + digit;
    else exponent++;
    digits++;
    digit = (bytes[++at] as number) - ZERO;
  }
  if (bytes[at] === POINT) {
    digit = (bytes[++at] as number) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return -1;
    do {
      if (digits < DIGITS_MAX) {
        mantissa = mantissa * 10 + digit;
        exponent--;
      }
      if (mantissa !== 0) digits++;
      digit = (bytes[++at] as number) - ZERO;
    } while (digit >= 0 && digit <= 9);
  }
  if (spelling?.isShortest === true) {
    spelling.isShortest = isShortest(mantissa, exponent, isNegative, bytes[at - 1] === ZERO);
  }
  if (((bytes[at] as number) | 32) === 101) {
    if (spelling !== undefined) spelling.isShortest = false;
    const end = behindExponent(bytes, at);
    if (end < 0) return -1;
    exponent += exponentOf(bytes, at + 1, end);
    at = end;
  }
  const scaled = scale(mantissa, exponent, digits > DIGITS_MAX);
  if (Number.isNaN(scaled)) return readSlowly(bytes, start, at, out, index);
  out[index] = isNegative ? -scaled : scaled;
  return at;
}

/** Of a number without exponent: whether it is certain that nothing is shorter, and JavaScript spells it so. */
function isShortest(mantissa: number, exponent: number, isNegative: boolean, endsInZero: boolean): boolean {
  if (mantissa === 0) return exponent === 0 && !isNegative;
  if (mantissa >= SHORTEST_MANTISSA_END) return false;
  // An integer, else a fraction without zeros at its end that is not too small.
  if (exponent === 0) return true;
  return !endsInZero && exponent > -23 && mantissa / (POWERS[-exponent] as number) >= LEAST_PLAIN;
}

/** `mantissa * 10^exponent` so exact that float32 cannot tell, or NaN when that is not certain. */
function scale(mantissa: number, exponent: number, isCut: boolean): number {
  if (mantissa === 0) return 0;
  if (exponent < -22 || exponent > 22) return Number.NaN;
  const value = exponent < 0 ? mantissa / (POWERS[-exponent] as number) : mantissa * (POWERS[exponent] as number);
  if (!isCut) return value;
  // The dropped digits are worth less than 1 in a mantissa of at least 1e14; the rest is for the roundings.
  const least = Math.fround(value * (1 - 1e-15));
  return least === Math.fround(value * (1 + 1.2e-14)) ? least : Number.NaN;
}

function readSlowly(bytes: Uint8Array, start: number, end: number, out: Float32Array, index: number): number {
  const value = Math.fround(
    Number(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1")),
  );
  out[index] = value;
  return Number.isFinite(value) ? end : -1;
}

/** The place behind the exponent whose `e` stands at `at`, or -1 when it has no digit. */
function behindExponent(bytes: Uint8Array, at: number): number {
  let end = at + 1;
  if (bytes[end] === 43 || bytes[end] === MINUS) end++;
  const first = end;
  while ((bytes[end] as number) >= ZERO && (bytes[end] as number) <= 57) end++;
  return end === first ? -1 : end;
}

/** Saturates at some 10,000, which is beyond every double. */
function exponentOf(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] as number) - ZERO;
    if (digit >= 0 && value < 10_000) value = value * 10 + digit;
  }
  return bytes[start] === MINUS ? -value : value;
}
