/** Digits of -2^63 and 2^63 - 1. Of as many digits, the order of texts is that of numbers. */
const INT64_MIN_DIGITS = "9223372036854775808";
const INT64_MAX_DIGITS = "9223372036854775807";

/**
 * A JSON number as it was written, for numbers whose literal matters: `1.0` and `1e2` (not the literal of an integer),
 * integers beyond 2^53, and what no JavaScript number can hold, `1e400`. All other numbers are plain numbers.
 */
export class JsonNumber {
  readonly #value: number;

  /** `literal` is a number as JSON writes it; whoever parses the text has checked that. `value` is the nearest float64. */
  constructor(
    readonly literal: string,
    value = Number(literal),
  ) {
    this.#value = value;
  }

  /** The nearest float64; infinite when there is none. */
  toNumber(): number {
    return this.#value;
  }

  toString(): string {
    return this.literal;
  }

  /** As JSON: the nearest float64. */
  toJSON(): number {
    return this.toNumber();
  }
}

/**
 * The integer that a JSON value is, or why it is none: it must be written as a plain int64, so `1.0` and `1e2` are not.
 * Beyond 2^53 the nearest float64, as everywhere in stored values.
 */
export function int64Of(value: unknown): number | "no number" | "invalid syntax" | "value out of range" {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  if (typeof value !== "number" && !(value instanceof JsonNumber)) return "no number";
  const literal = String(value);
  if (!isPlainInteger(literal)) return "invalid syntax";
  const isNegative = literal.startsWith("-");
  const digits = isNegative ? literal.slice(1) : literal;
  const most = isNegative ? INT64_MIN_DIGITS : INT64_MAX_DIGITS;
  if (digits.length > most.length || (digits.length === most.length && digits > most)) return "value out of range";
  return (typeof value === "number" ? value : value.toNumber()) + 0;
}

/** Digits, maybe behind a minus. */
function isPlainInteger(literal: string): boolean {
  for (let at = literal.startsWith("-") ? 1 : 0; at < literal.length; at++) {
    const code = literal.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return true;
}
