import { ShoalError } from "@shoal/model";
import type { GraphQlLimits } from "../limits.js";

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const HASH = 35;
const BACKSLASH = 92;
const OPEN_LIST = 91;
const CLOSE_LIST = 93;

/** What messages call the levels of a query: with their setting. */
export const LEVELS = "levels (GRAPHQL_DEPTH_MAX)";

/** How the names of a filter's values begin. */
const FILTER_VALUE = "value";

/** What a character begins: nothing, punctuation, an opening or closing bracket, a name, a number. */
const Char = { ignored: 0, punctuation: 1, opening: 2, closing: 3, name: 4, digit: 5 } as const;

const CHARS = Uint8Array.from({ length: 128 }, (_, code) => {
  const char = String.fromCharCode(code);
  if ("{[(".includes(char)) return Char.opening;
  if ("}])".includes(char)) return Char.closing;
  if (/[A-Za-z_]/.test(char)) return Char.name;
  if (/[0-9+-]/.test(char)) return Char.digit;
  return /[\t\n\r ,]/.test(char) ? Char.ignored : Char.punctuation;
});

const BYTE_ORDER_MARK = 0xfeff;

/**
 * Refuses a query text that is too long, too deep or has too many tokens, before a parser sees it: graphql-js recurses
 * once a nesting and would overflow the stack. Reads the text once and stops at the first limit that is passed; what
 * is no GraphQL at all is left to the parser. The response is the number of tokens, comments aside. Fails with `tooLarge`.
 */
export function checkText(text: string, limits: GraphQlLimits): number {
  refuseAbove(text.length, limits.graphqlQueryCharsMax, "characters");
  let tokens = 0;
  let comments = 0;
  let numbers = 0;
  let depth = 0;
  let name = 0;
  /** Numbers in the filter's list that is being read: each would be parsed and validated before the filter counts them. */
  let listed = Number.NaN;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = behindString(text, at);
      tokens++;
    } else if (code === HASH) {
      // graphql-js makes a token of it, too, though it says nothing.
      at = behindComment(text, at);
      comments++;
    } else {
      const char = code < 128 ? CHARS[code] : code === BYTE_ORDER_MARK ? Char.ignored : Char.punctuation;
      if (char === Char.name) name = at;
      else if (code === OPEN_LIST) listed = text.startsWith(FILTER_VALUE, name) ? 0 : Number.NaN;
      else if (code === CLOSE_LIST) listed = Number.NaN;
      at = char === Char.name || char === Char.digit ? behindWord(text, at) : at + 1;
      if (char === Char.digit) {
        numbers++;
        listed++;
      } else if (char !== Char.ignored) tokens++;
      if (char === Char.opening) depth++;
      else if (char === Char.closing) depth--;
    }
    if (tokens + comments > limits.graphqlTokensMax) refuse("tokens", limits.graphqlTokensMax);
    if (numbers > limits.graphqlNumbersMax) refuse("numbers", limits.graphqlNumbersMax);
    if (listed > limits.filterValuesMax) refuse("values in a filter (FILTER_VALUES_MAX)", limits.filterValuesMax);
    if (depth > limits.graphqlDepthMax) refuse(LEVELS, limits.graphqlDepthMax);
  }
  return tokens + numbers;
}

/** Fails with `tooLarge` and the one wording of all limits. */
export function refuseAbove(count: number, max: number, what: string): void {
  if (count > max) refuse(what, max);
}

function refuse(what: string, max: number): never {
  throw new ShoalError("tooLarge", `the query has more than ${max} ${what}`);
}

function behindWord(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length) {
    const char = CHARS[text.charCodeAt(at)];
    // A number goes on behind its point and its sign of the exponent.
    if (char !== Char.name && char !== Char.digit && text.charCodeAt(at) !== 46) break;
    at++;
  }
  return at;
}

function behindComment(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) !== NEWLINE && text.charCodeAt(at) !== RETURN) at++;
  return at;
}

function behindString(text: string, start: number): number {
  if (text.startsWith('"""', start)) {
    let end = text.indexOf('"""', start + 3);
    while (end > 0 && text.charCodeAt(end - 1) === BACKSLASH) end = text.indexOf('"""', end + 1);
    return end < 0 ? text.length : end + 3;
  }
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
    else if (code === NEWLINE || code === RETURN) return at;
  }
  return text.length;
}
