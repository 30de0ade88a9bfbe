import { BYTES, Byte, behindIgnored, Code, isNamePart, isSpaceEscape } from "./characters.js";
import { liftNumber } from "./lift-number.js";
import { type LiftedLiterals, LiteralKind } from "./lifted-literals.js";
import type { TemplateText } from "./template-text.js";

/**
 * Lifts the literals of a GraphQL text that stands in a JSON string; `start` is behind the opening quote. What lies
 * between literals is kept as it is. The response is the place behind the closing quote, or -1 when the text is not to be
 * lifted.
 */
export function liftQuery(bytes: Buffer, start: number, literals: LiftedLiterals, template: TemplateText): number {
  let at = start;
  /** Where the text that is kept next begins. */
  let kept = start;
  while (at - kept < template.room) {
    const byte = bytes[at] as number;
    switch (BYTES[byte]) {
      case Byte.kept:
        at++;
        break;
      case Byte.name:
        do at++;
        while (isNamePart(bytes[at] as number));
        break;
      case Byte.number: {
        template.keep(bytes, kept, at);
        at = liftNumber(bytes, at, literals);
        if (at < 0) return -1;
        template.push(literals.kind(literals.count - 1) ?? LiteralKind.int);
        kept = at;
        break;
      }
      case Byte.openBracket: {
        const end = vectorEnd(bytes, at, literals);
        if (end < 0) at++;
        else {
          template.keep(bytes, kept, at);
          template.push(LiteralKind.vector);
          at = end;
          kept = at;
        }
        break;
      }
      case Byte.backslash: {
        if (isSpaceEscape(bytes[at + 1])) {
          at += 2;
          break;
        }
        const end = stringEnd(bytes, at, literals);
        if (end < 0) return -1;
        template.keep(bytes, kept, at);
        template.push(LiteralKind.string);
        at = end;
        kept = at;
        break;
      }
      case Byte.quote:
        template.keep(bytes, kept, at);
        return at + 1;
      case Byte.hash:
        at = commentEnd(bytes, at);
        break;
      default:
        return -1;
    }
  }
  return -1;
}

/** Lifts the list whose bracket stands at `open` when it is one of numbers. */
function vectorEnd(bytes: Buffer, open: number, literals: LiftedLiterals): number {
  const at = behindIgnored(bytes, open + 1);
  return BYTES[bytes[at] as number] === Byte.number ? literals.addVector(open, "graphql") : -1;
}

/** Lifts the string whose escaped quote begins at `start`. Strings with escapes and block strings are not lifted. */
function stringEnd(bytes: Buffer, start: number, literals: LiftedLiterals): number {
  if (bytes[start + 1] !== Code.quote) return -1;
  const content = start + 2;
  let at = content;
  while ((bytes[at] as number) >= Code.space && bytes[at] !== Code.backslash && bytes[at] !== Code.quote) at++;
  if (bytes[at] !== Code.backslash || bytes[at + 1] !== Code.quote) return -1;
  const isBlock = at === content && bytes[at + 2] === Code.backslash && bytes[at + 3] === Code.quote;
  return !isBlock && literals.addString(content, at) ? at + 2 : -1;
}

/** The place of the line end behind a comment, or of the end of the text. */
function commentEnd(bytes: Buffer, start: number): number {
  let at = start;
  while ((bytes[at] as number) >= Code.space && bytes[at] !== Code.quote) {
    if (bytes[at] === Code.backslash) {
      if (bytes[at + 1] === Code.n || bytes[at + 1] === Code.r) return at;
      at++;
    }
    at++;
  }
  return at;
}
