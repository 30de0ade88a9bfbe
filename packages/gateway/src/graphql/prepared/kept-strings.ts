import { behindIgnored, behindJsonSpace, Code } from "./characters.js";

/**
 * Strings that are not lifted but stay in the template, because they decide whether a request is valid and what it means:
 * those of the paths of filters, and in variables their operators, which are names in the text of a query. Whoever walks
 * through the parsed request must leave out the same ones.
 */
export function isKeptMember(name: string): boolean {
  return name === "path" || name === "operator";
}

/** The member of {@link isKeptMember} that texts have strings for. */
export const KEPT_ARGUMENT = "path";

/**
 * `at` is behind a name of a GraphQL text in a JSON string that begins at `start`. The place behind the string or strings
 * that stay when the name is {@link KEPT_ARGUMENT} and nothing else is its value; else `at`.
 */
export function behindKeptArgument(bytes: Uint8Array, start: number, at: number): number {
  if (at - start !== 4 || !isAt(bytes, start, PATH)) return at;
  const colon = behindIgnored(bytes, at);
  if (bytes[colon] !== Code.colon) return at;
  let next = behindIgnored(bytes, colon + 1);
  if (bytes[next] !== Code.openBracket) {
    const end = behindEscapedString(bytes, next);
    return end < 0 ? at : end;
  }
  next = behindIgnored(bytes, next + 1);
  do {
    const end = behindEscapedString(bytes, next);
    if (end < 0) return at;
    next = behindIgnored(bytes, end);
  } while (bytes[next] !== Code.closeBracket);
  return next + 1;
}

/** The place behind the string of a GraphQL text whose escaped quote is at `start`; -1 for a block string and any escape. */
export function behindEscapedString(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== Code.backslash || bytes[start + 1] !== Code.quote) return -1;
  const content = start + 2;
  let at = content;
  while ((bytes[at] as number) >= Code.space && bytes[at] !== Code.backslash && bytes[at] !== Code.quote) at++;
  if (bytes[at] !== Code.backslash || bytes[at + 1] !== Code.quote) return -1;
  const isBlock = at === content && bytes[at + 2] === Code.backslash && bytes[at + 3] === Code.quote;
  return isBlock ? -1 : at + 2;
}

/** Whether the quoted name of a JSON member at `start` is one of {@link isKeptMember}. */
export function isKeptJsonName(bytes: Uint8Array, start: number): boolean {
  return isAt(bytes, start, QUOTED_PATH) || isAt(bytes, start, QUOTED_OPERATOR);
}

/** The place behind a JSON string at `start` without escapes, or behind a list of at least one of them; -1 for all else. */
export function behindKeptJson(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== Code.openBracket) return behindJsonString(bytes, start);
  let at = start;
  do {
    at = behindJsonString(bytes, behindJsonSpace(bytes, at + 1));
    if (at < 0) return -1;
    at = behindJsonSpace(bytes, at);
  } while (bytes[at] === Code.comma);
  return bytes[at] === Code.closeBracket ? at + 1 : -1;
}

/** Whether {@link behindKeptJson} keeps the parsed value. */
export function isKeptJson(value: unknown): boolean {
  if (typeof value === "string") return true;
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
}

/** The place behind the JSON string at `start`; -1 when it has escapes or is none. */
export function behindJsonString(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== Code.quote) return -1;
  let at = start + 1;
  while ((bytes[at] as number) >= Code.space && bytes[at] !== Code.quote && bytes[at] !== Code.backslash) at++;
  return bytes[at] === Code.quote ? at + 1 : -1;
}

const PATH = Buffer.from("path");
const QUOTED_PATH = Buffer.from('"path"');
const QUOTED_OPERATOR = Buffer.from('"operator"');

function isAt(bytes: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word[i]) return false;
  return true;
}
