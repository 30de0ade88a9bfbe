import { BYTES, Byte, behindJsonSpace, Code, isAt } from "./characters.js";
import { liftNumber } from "./lift-number.js";
import { type LiftedLiterals, LiteralKind } from "./lifted-literals.js";
import type { TemplateText } from "./template-text.js";

/** In variables the operator of a filter is a string, in the text of a query a name: part of the template in both. */
export const KEPT_MEMBER = "operator";
const KEPT_NAME = Buffer.from(`"${KEPT_MEMBER}"`);

/** Deeper values are not lifted. */
const DEPTH_MAX = 6;

/**
 * Lifts numbers, strings and lists of numbers out of the value of `variables` at `start`; names, true, false, null,
 * the structure and the strings of {@link KEPT_MEMBER} are kept, white space mostly not. The response is the place behind the
 * value, or -1.
 */
export function liftVariables(bytes: Buffer, start: number, literals: LiftedLiterals, template: TemplateText): number {
  if (bytes[start] === Code.n) return template.word(bytes, start, "null");
  return bytes[start] === Code.openBrace ? new VariablesLifter(bytes, literals, template).object(start, 0) : -1;
}

class VariablesLifter {
  constructor(
    private readonly bytes: Buffer,
    private readonly literals: LiftedLiterals,
    private readonly template: TemplateText,
  ) {}

  object(start: number, depth: number): number {
    return this.items(start, Code.closeBrace, (name) => {
      const end = this.name(name);
      if (end < 0) return -1;
      const value = behindJsonSpace(this.bytes, end);
      return this.kept(name, value) ?? this.value(value, depth + 1);
    });
  }

  /** What stands between two brackets, with commas between; `lift` gives the place behind one of them, or -1. */
  private items(start: number, close: number, lift: (at: number) => number): number {
    const { bytes, template } = this;
    template.push(bytes[start] as number);
    let at = behindJsonSpace(bytes, start + 1);
    while (bytes[at] !== close) {
      at = lift(at);
      if (at < 0) return -1;
      at = behindJsonSpace(bytes, at);
      if (bytes[at] !== Code.comma) break;
      template.push(Code.comma);
      at = behindJsonSpace(bytes, at + 1);
      // A comma stands between two.
      if (bytes[at] === close) return -1;
    }
    if (bytes[at] !== close) return -1;
    template.push(close);
    return at + 1;
  }

  /** A member's name and its colon. Only names that GraphQL knows: `JSON.parse` keeps those in order. */
  private name(start: number): number {
    const { bytes, template } = this;
    if (bytes[start] !== Code.quote || BYTES[bytes[start + 1] as number] !== Byte.name) return -1;
    let at = start + 2;
    while (BYTES[bytes[at] as number] === Byte.name || BYTES[bytes[at] as number] === Byte.number) at++;
    if (bytes[at] !== Code.quote) return -1;
    template.keep(bytes, start, at + 1);
    at = behindJsonSpace(bytes, at + 1);
    if (bytes[at] !== Code.colon) return -1;
    template.push(Code.colon);
    this.literals.memberCount++;
    return at + 1;
  }

  /** The place behind a value that stays in the template; undefined for all others. */
  private kept(name: number, value: number): number | undefined {
    const end = isAt(this.bytes, name, KEPT_NAME) ? behindJsonString(this.bytes, value) : -1;
    if (end < 0) return undefined;
    this.template.keep(this.bytes, value, end);
    return end;
  }

  private value(at: number, depth: number): number {
    const { bytes, literals, template } = this;
    if (depth > DEPTH_MAX || template.isFull) return -1;
    const byte = bytes[at] as number;
    if (byte === Code.openBrace) return this.object(at, depth);
    if (byte === Code.openBracket) return this.list(at, depth);
    if (byte === Code.quote) return this.string(at);
    if (byte === Code.n) return template.word(bytes, at, "null");
    if (byte === Code.t) return template.word(bytes, at, "true");
    if (BYTES[byte] !== Byte.number) return template.word(bytes, at, "false");
    const end = liftNumber(bytes, at, literals);
    if (end >= 0) template.push(literals.kind(literals.count - 1) ?? LiteralKind.int);
    return end;
  }

  private list(start: number, depth: number): number {
    const { bytes, literals, template } = this;
    const at = behindJsonSpace(bytes, start + 1);
    if (BYTES[bytes[at] as number] === Byte.number) {
      const end = literals.addVector(start, "json");
      if (end >= 0) {
        template.push(LiteralKind.vector);
        return end;
      }
    }
    return this.items(start, Code.closeBracket, (item) => this.value(item, depth + 1));
  }

  private string(start: number): number {
    const { bytes, literals, template } = this;
    const end = behindJsonString(bytes, start);
    if (end < 0 || !literals.addString(start + 1, end - 1)) return -1;
    template.push(LiteralKind.string);
    return end;
  }
}

/** The place behind the JSON string at `start`; -1 when it has escapes or is none. */
function behindJsonString(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== Code.quote) return -1;
  let at = start + 1;
  while ((bytes[at] as number) >= Code.space && bytes[at] !== Code.quote && bytes[at] !== Code.backslash) at++;
  return bytes[at] === Code.quote ? at + 1 : -1;
}
