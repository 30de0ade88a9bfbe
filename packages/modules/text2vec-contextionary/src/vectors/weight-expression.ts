import { ShoalError } from "@shoal/model";

/** More is nested than anybody writes. */
const DEPTH_MAX = 50;
const EXPRESSION_CHARS_MAX = 1_000;
/** Larger weights have no place in float32, nor would their sum. */
const WEIGHT_MAX = 1e30;

/**
 * What a weight becomes by the expression of a client: numbers, `w`, `+ - * /`, parentheses. Fails with `invalid`, also when it
 * is out of bounds.
 */
export function overriddenWeight(word: string, expression: string, weight: number): number {
  if (expression.length > EXPRESSION_CHARS_MAX) {
    const reason = `its expression has ${expression.length} characters, at most ${EXPRESSION_CHARS_MAX} are allowed`;
    throw new ShoalError("invalid", `the weight of '${word}': ${reason}`);
  }
  const value = new Expression(expression, weight).value();
  if (value === undefined || !Number.isFinite(value)) {
    throw new ShoalError("invalid", `the weight of '${word}' cannot be made of the expression '${expression}'`);
  }
  if (Math.abs(value) <= WEIGHT_MAX) return value;
  throw new ShoalError("invalid", `the weight of '${word}' would be ${value}, at most ${WEIGHT_MAX} is allowed`);
}

/** Reads by recursive descent; undefined for what is none. */
class Expression {
  readonly #tokens: readonly string[];
  readonly #weight: number;
  #next = 0;

  constructor(text: string, weight: number) {
    this.#tokens = text.match(/\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+|\S/g) ?? [];
    this.#weight = weight;
  }

  value(): number | undefined {
    const value = this.#sum(0);
    return this.#next === this.#tokens.length ? value : undefined;
  }

  #sum(depth: number): number | undefined {
    let value = this.#product(depth);
    for (let sign = this.#take("+", "-"); sign !== undefined && value !== undefined; sign = this.#take("+", "-")) {
      const other = this.#product(depth);
      value = other === undefined ? undefined : sign === "+" ? value + other : value - other;
    }
    return value;
  }

  #product(depth: number): number | undefined {
    let value = this.#factor(depth);
    for (let sign = this.#take("*", "/"); sign !== undefined && value !== undefined; sign = this.#take("*", "/")) {
      const other = this.#factor(depth);
      value = other === undefined ? undefined : sign === "*" ? value * other : value / other;
    }
    return value;
  }

  #factor(depth: number): number | undefined {
    if (depth > DEPTH_MAX) return undefined;
    if (this.#take("-") !== undefined) {
      const value = this.#factor(depth + 1);
      return value === undefined ? undefined : -value;
    }
    if (this.#take("(") !== undefined) {
      const value = this.#sum(depth + 1);
      return this.#take(")") === undefined ? undefined : value;
    }
    const token = this.#tokens[this.#next++] ?? "";
    if (token === "w") return this.#weight;
    return /^[\d.]/.test(token) && token !== "." ? Number(token) : undefined;
  }

  #take(...wanted: readonly string[]): string | undefined {
    const token = this.#tokens[this.#next];
    if (token === undefined || !wanted.includes(token)) return undefined;
    this.#next++;
    return token;
  }
}
