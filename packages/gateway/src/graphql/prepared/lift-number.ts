import { Code, isNamePart } from "./characters.js";
import { type LiftedLiterals, LiteralKind } from "./lifted-literals.js";

/** Longer integers may not be exact in a double. */
const INT_DIGITS_MAX = 15;

/**
 * Lifts the number at `start`. The response is the place behind it, or -1 when there is none, when it is an integer of
 * more than 15 digits or parses to an infinity, or when a name or point sticks to it.
 */
export function liftNumber(bytes: Buffer, start: number, literals: LiftedLiterals): number {
  const first = bytes[start] === Code.minus ? start + 1 : start;
  let at = behindDigits(bytes, first);
  if (at === first || (bytes[first] === Code.zero && at > first + 1)) return -1;
  let isInt = true;
  if (bytes[at] === Code.point) {
    const fraction = at + 1;
    at = behindDigits(bytes, fraction);
    if (at === fraction) return -1;
    isInt = false;
  }
  if (((bytes[at] as number) | 32) === 101) {
    at++;
    if (bytes[at] === 43 || bytes[at] === Code.minus) at++;
    const exponent = at;
    at = behindDigits(bytes, exponent);
    if (at === exponent) return -1;
    isInt = false;
  }
  if (bytes[at] === Code.point || isNamePart(bytes[at] as number)) return -1;
  if (isInt && at - first > INT_DIGITS_MAX) return -1;
  const value = Number(bytes.toString("latin1", start, at));
  if (!Number.isFinite(value)) return -1;
  return literals.addNumber(isInt ? LiteralKind.int : LiteralKind.float, value) ? at : -1;
}

function behindDigits(bytes: Uint8Array, start: number): number {
  let at = start;
  while ((bytes[at] as number) >= Code.zero && (bytes[at] as number) <= Code.nine) at++;
  return at;
}
