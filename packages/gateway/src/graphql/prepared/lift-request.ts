import { behindJsonSpace, Code, isAt } from "./characters.js";
import { liftQuery } from "./lift-query.js";
import { liftVariables } from "./lift-variables.js";
import { LiftedLiterals } from "./lifted-literals.js";
import { TemplateText } from "./template-text.js";

/** A range of literals: from `first` up to, not including, `end`. */
export interface LiteralRange {
  readonly first: number;
  readonly end: number;
}

/**
 * Cuts the literals out of request bodies, straight from their bytes. What remains is the template: two requests with
 * the same template differ in nothing but the values of their literals, whose kinds are part of the template. Anything
 * unusual (escapes in strings, block strings, text beyond ASCII, other members) is not lifted; nothing here judges
 * whether a request is valid. One pass, no backtracking beyond one list.
 */
export class RequestLifter {
  readonly literals = new LiftedLiterals();
  /** Literals of the query text, of the last request. */
  query: LiteralRange = NOTHING;
  /** Literals of the variables, of the last request. */
  variables: LiteralRange = NOTHING;
  readonly #template: TemplateText;

  constructor(templateBytesMax: number) {
    this.#template = new TemplateText(templateBytesMax);
  }

  /** The template, or undefined when the request is not lifted. Valid with its literals until the next call. */
  lift(bytes: Buffer): string | undefined {
    this.literals.reset(bytes);
    this.#template.reset();
    this.query = NOTHING;
    this.variables = NOTHING;
    let at = behindJsonSpace(bytes, 0);
    if (bytes[at] !== Code.openBrace) return undefined;
    let members = 0;
    do {
      const name = behindJsonSpace(bytes, at + 1);
      const member = MEMBERS.find((each) => isAt(bytes, name, each.name));
      if (member === undefined || (members & member.bit) !== 0) return undefined;
      members |= member.bit;
      const colon = behindJsonSpace(bytes, name + member.name.length);
      if (bytes[colon] !== Code.colon) return undefined;
      at = this.#member(bytes, member.bit, behindJsonSpace(bytes, colon + 1));
      if (at < 0) return undefined;
      at = behindJsonSpace(bytes, at);
    } while (bytes[at] === Code.comma);
    if (bytes[at] !== Code.closeBrace || behindJsonSpace(bytes, at + 1) !== bytes.length) return undefined;
    return this.#template.isFull ? undefined : this.#template.text();
  }

  #member(bytes: Buffer, bit: number, at: number): number {
    const first = this.literals.count;
    this.#template.section(bit);
    if (bit === QUERY.bit) {
      if (bytes[at] !== Code.quote) return -1;
      const end = liftQuery(bytes, at + 1, this.literals, this.#template);
      this.query = { first, end: this.literals.count };
      return end;
    }
    if (bit === VARIABLES.bit) {
      const end = liftVariables(bytes, at, this.literals, this.#template);
      this.variables = { first, end: this.literals.count };
      return end;
    }
    return this.#operationName(bytes, at);
  }

  /** Kept as it is: it decides what is executed. */
  #operationName(bytes: Buffer, start: number): number {
    if (bytes[start] === Code.n) return this.#template.word(bytes, start, "null");
    if (bytes[start] !== Code.quote) return -1;
    let at = start + 1;
    while ((bytes[at] as number) >= Code.space && bytes[at] !== Code.quote && bytes[at] !== Code.backslash) {
      this.#template.push(bytes[at++] as number);
    }
    return bytes[at] === Code.quote ? at + 1 : -1;
  }
}

const NOTHING: LiteralRange = { first: 0, end: 0 };

interface Member {
  readonly bit: number;
  /** Its name, with both quotes. */
  readonly name: Buffer;
}

const QUERY = { bit: 1, name: Buffer.from('"query"') };
const VARIABLES = { bit: 2, name: Buffer.from('"variables"') };
const MEMBERS: readonly Member[] = [QUERY, VARIABLES, { bit: 4, name: Buffer.from('"operationName"') }];
