/**
 * JSON whose numbers keep the digits they were sent with: `JSON.parse` turns 9007199254740993 into 9007199254740992,
 * and a console that shows other numbers than the server sent is of no use.
 */
export type ExactJson = string | boolean | null | NumberLiteral | readonly ExactJson[] | ReadonlyMap<string, ExactJson>;

/** A number as it was written. */
export class NumberLiteral {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

/** A sign, a string, a number or a word; what a string may hold is left to JSON.parse. */
const TOKEN =
  /[ \t\n\r]*(?:([{}[\],:])|("[^"\\]*(?:\\.[^"\\]*)*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;

/** Levels of nesting; the server's own responses stay far below. */
const DEPTH_MAX = 500;

/** Fails with a SyntaxError on what is not JSON. */
export function parseExact(text: string): ExactJson {
  return new Reader(text).document();
}

/** The member of an object; undefined when it has none, or is no object. */
export function member(value: ExactJson | undefined, name: string): ExactJson | undefined {
  return value instanceof Map ? value.get(name) : undefined;
}

export function isList(value: ExactJson | undefined): value is readonly ExactJson[] {
  return Array.isArray(value);
}

/** Empty for what is no text. */
export function textOf(value: ExactJson | undefined): string {
  return typeof value === "string" ? value : "";
}

export function numberOf(value: ExactJson | undefined): number | undefined {
  return value instanceof NumberLiteral ? Number(value.text) : undefined;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): ExactJson {
    const value = this.#value(this.#next(), 0);
    if (this.#text.slice(this.#at).trim() !== "") throw new SyntaxError(`unexpected text at ${this.#at}`);
    return value;
  }

  /** The next token: a sign, or the text of a value. */
  #next(): string {
    TOKEN.lastIndex = this.#at;
    const found = TOKEN.exec(this.#text);
    if (found === null) throw new SyntaxError(`no JSON at ${this.#at}`);
    this.#at = TOKEN.lastIndex;
    return found[1] ?? found[2] ?? found[3] ?? found[4] ?? "";
  }

  #value(token: string, depth: number): ExactJson {
    if (depth > DEPTH_MAX) throw new SyntaxError(`deeper than ${DEPTH_MAX} levels`);
    switch (token.charAt(0)) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#list(depth);
      case '"':
        return JSON.parse(token) as string;
      case "t":
        return true;
      case "f":
        return false;
      case "n":
        return null;
      case "}":
      case "]":
      case ",":
      case ":":
        throw new SyntaxError(`unexpected ${token} before ${this.#at}`);
      default:
        return new NumberLiteral(token);
    }
  }

  #object(depth: number): ReadonlyMap<string, ExactJson> {
    const members = new Map<string, ExactJson>();
    this.#each("}", (token) => {
      if (!token.startsWith('"')) throw new SyntaxError(`expected a name before ${this.#at}`);
      const name = JSON.parse(token) as string;
      if (this.#next() !== ":") throw new SyntaxError(`expected : before ${this.#at}`);
      members.set(name, this.#value(this.#next(), depth + 1));
    });
    return members;
  }

  #list(depth: number): readonly ExactJson[] {
    const items: ExactJson[] = [];
    this.#each("]", (token) => items.push(this.#value(token, depth + 1)));
    return items;
  }

  /** What stands between commas up to `end`; `read` gets the first token of each. */
  #each(end: string, read: (token: string) => void): void {
    let token = this.#next();
    if (token === end) return;
    for (;;) {
      read(token);
      const next = this.#next();
      if (next === end) return;
      if (next !== ",") throw new SyntaxError(`expected , or ${end} before ${this.#at}`);
      token = this.#next();
    }
  }
}
