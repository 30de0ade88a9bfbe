const POINT = 0x2e;
const ZERO = 0x30;
const LOWER_E = 0x65;

/** Any two decimal numbers of so many digits are different doubles. */
const DISTINCT_CHARS_MAX = 15;

/**
 * What a plain number would lose of the JSON number that stands there: nothing; that it is an `integer` beyond 2^53; or
 * that it is no integer, though its value as a double is (`1.0`, `1e2`), or that it has none (`1e400`): its `form`.
 */
export function lostAsNumber(bytes: Buffer, start: number, end: number): "nothing" | "integer" | "form" {
  let isInteger = true;
  let hasExponent = false;
  let isZeroBehindPoint = true;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === POINT) isInteger = false;
    else if ((byte | 0x20) === LOWER_E) {
      isInteger = false;
      hasExponent = true;
    } else if (!isInteger && byte !== ZERO) isZeroBehindPoint = false;
  }
  if (!hasExponent) {
    const isShort = end - start <= DISTINCT_CHARS_MAX;
    if (isInteger && isShort) return "nothing";
    if (!isInteger && isZeroBehindPoint) return "form";
    // A short fraction that does not end in zero is no integer as a double either.
    if (!isInteger && isShort && bytes[end - 1] !== ZERO) return "nothing";
  }
  const value = Number(bytes.toString("latin1", start, end));
  if (isInteger) return Number.isSafeInteger(value) ? "nothing" : "integer";
  return Number.isFinite(value) && !Number.isInteger(value) ? "nothing" : "form";
}
