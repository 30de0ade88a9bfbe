/**
 * A JSON number as it was written, for numbers whose literal matters: `1.0` and `1e2` (not the literal of an integer),
 * integers beyond 2^53, and what no JavaScript number can hold, `1e400`. All other numbers are plain numbers.
 */
export class JsonNumber {
  /** `literal` is a number as JSON writes it; whoever parses the text has checked that. */
  constructor(readonly literal: string) {}

  /** The nearest float64; infinite when there is none. */
  toNumber(): number {
    return Number(this.literal);
  }

  toString(): string {
    return this.literal;
  }

  /** As JSON: the nearest float64. */
  toJSON(): number {
    return this.toNumber();
  }
}
