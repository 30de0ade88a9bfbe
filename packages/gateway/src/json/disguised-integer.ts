const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const SMALL_E = 0x65;
const LARGE_E = 0x45;
const BACKSLASH = 0x5c;

/**
 * The end of a number literal with a point or an exponent that may be no plain integer although its value is one:
 * - `1.0`, `1e2`, `10e-1`, `5e-0`;
 * - so near to an integer that a double cannot tell: zeros or nines behind the point (at most eight digits before it, so
 *   at least seven of them), or nine and more digits before it;
 * - so near to zero that a double cannot tell: an exponent of three digits;
 * - a negative exponent behind more than one digit, as in `299999999999999999999e-20`.
 */
const DISGUISED_INTEGER = new RegExp(
  `(?:${[
    "\\.0+",
    "[0-9][eE]\\+?[0-9]+",
    "0[eE]-[0-9]+",
    "[eE]-(?:0+|[0-9]{3,})",
    "\\.(?:0{6}|9{6})[0-9]*(?:[eE]-[0-9]+)?",
    "[0-9]{9}\\.[0-9]+(?:[eE]-[0-9]+)?",
    "(?<![.0-9])[0-9]{2,}(?:\\.[0-9]+)?[eE]-[0-9]+",
  ].join("|")})$`,
);

/**
 * Whether a JSON text has a number that may be an integer in disguise. Strings are passed over: an expression that looks
 * for such numbers everywhere takes 30 ns for each character of a text that is full of digits.
 */
export function holdsDisguisedInteger(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === MINUS || isDigit(code)) {
      const start = at;
      let isPlain = true;
      for (let next = text.charCodeAt(at + 1); isOfNumber(next); next = text.charCodeAt(++at + 1)) {
        isPlain &&= isDigit(next);
      }
      if (!isPlain && DISGUISED_INTEGER.test(text.slice(start, at + 1))) return true;
    }
  }
  return false;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isOfNumber(code: number): boolean {
  return isDigit(code) || code === POINT || code === SMALL_E || code === LARGE_E || code === MINUS || code === PLUS;
}

/** Where the string that begins at `start` ends. */
function stringEnd(text: string, start: number): number {
  const quote = text.indexOf('"', start + 1);
  if (quote > 0 && text.charCodeAt(quote - 1) !== BACKSLASH) return quote;
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) break;
  }
  return at;
}
