const QUOTE = 0x22;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const COMMA = 0x2c;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/**
 * The first value of a text that is known to begin with one and not to nest too deep, with numbers as `numberOf` makes them of their
 * literals; otherwise as `JSON.parse`. A long string costs no more than there.
 */
export function parseExactly(text: string, numberOf: (literal: string) => unknown): unknown {
  return new ExactParser(text, numberOf).value();
}

class ExactParser {
  #at = 0;
  /** The first backslash from `#at` on, as far as it is known. */
  #backslash = -1;

  constructor(
    readonly text: string,
    readonly numberOf: (literal: string) => unknown,
  ) {}

  value(): unknown {
    const code = this.#skipSpace();
    if (code === QUOTE) return this.#string();
    if (code === OPEN_BRACE) return this.#object();
    if (code === OPEN_BRACKET) return this.#list();
    NUMBER.lastIndex = this.#at;
    const literal = code <= 0x39 ? NUMBER.exec(this.text)?.[0] : undefined;
    if (literal !== undefined) {
      this.#at += literal.length;
      return this.numberOf(literal);
    }
    const word = code === 0x74 ? true : code === 0x66 ? false : null;
    this.#at += word === false ? 5 : 4;
    return word;
  }

  #object(): object {
    const object: { [key: string]: unknown } = {};
    this.#at++;
    while (this.#skipSpace() !== CLOSE_BRACE) {
      if (this.text.charCodeAt(this.#at) === COMMA) {
        this.#at++;
        this.#skipSpace();
      }
      const key = this.#string();
      this.#skipSpace();
      this.#at++;
      const value = this.value();
      if (key !== "__proto__") object[key] = value;
      else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    }
    this.#at++;
    return object;
  }

  #list(): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    while (this.#skipSpace() !== CLOSE_BRACKET) {
      if (this.text.charCodeAt(this.#at) === COMMA) this.#at++;
      list.push(this.value());
    }
    this.#at++;
    return list;
  }

  #string(): string {
    const { text } = this;
    const start = this.#at;
    let end = text.indexOf('"', start + 1);
    if (this.#backslash < start) this.#backslash = indexOrEnd(text, "\\", start);
    if (this.#backslash > end) {
      this.#at = end + 1;
      return text.slice(start + 1, end);
    }
    for (let at = this.#backslash; at < end; at = indexOrEnd(text, "\\", at + 2)) {
      if (at + 1 === end) end = text.indexOf('"', end + 1);
    }
    this.#at = end + 1;
    return JSON.parse(text.slice(start, end + 1)) as string;
  }

  /** The code of the next character that is no white space. */
  #skipSpace(): number {
    for (;;) {
      const code = this.text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
      this.#at++;
    }
  }
}

function indexOrEnd(text: string, search: string, from: number): number {
  const at = text.indexOf(search, from);
  return at === -1 ? text.length : at;
}
