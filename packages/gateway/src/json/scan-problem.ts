import { escapeText, ShoalError } from "@shoal/model";

/** What may come next in a JSON text. */
export type Expected = "value" | "valueOrEnd" | "key" | "keyOrEnd" | "colon" | "commaOrObjectEnd" | "commaOrArrayEnd";

/** Why a text is no JSON that is read: the byte at which that shows, and what should stand there. */
export interface JsonProblem {
  readonly at: number;
  /** `"nothing"`: there is no value at all; `"tooDeep"`: it nests too deep; else what is expected, in words. */
  readonly expected: "nothing" | "tooDeep" | { readonly words: string };
}

const WORDS: { readonly [E in Expected]: string } = {
  value: "a value",
  valueOrEnd: "a value or ']'",
  key: "a member's name in double quotes",
  keyOrEnd: "a member's name in double quotes or '}'",
  colon: "':' behind the member's name",
  commaOrObjectEnd: "',' or '}' behind the member's value",
  commaOrArrayEnd: "',' or ']' behind the element",
};

const ESCAPES = new Set(Buffer.from('"\\/bfnrt'));
const LOWER_U = 0x75;

/** Something else than what is expected, or the end of the text. */
export function unexpected(at: number, expected: Expected): JsonProblem {
  return problem(at, WORDS[expected]);
}

/** A string that does not end, or that holds a control character. */
export function brokenString(bytes: Buffer, at: number): JsonProblem {
  const isEnd = at >= bytes.length;
  return problem(at, isEnd ? "'\"' at the end of the string" : "an escape such as \\n in place of a control character");
}

export function brokenNumber(at: number): JsonProblem {
  return problem(at, "a digit of the number");
}

/** What is wrong with the escape whose letter, behind the backslash, stands at `at`. */
export function brokenEscape(bytes: Buffer, at: number): JsonProblem | undefined {
  const letter = bytes[at];
  if (letter !== LOWER_U) {
    const isEscape = letter !== undefined && ESCAPES.has(letter);
    return isEscape ? undefined : problem(at, 'one of the letters " \\ / b f n r t u behind the backslash');
  }
  for (let digit = at + 1; digit <= at + 4; digit++) {
    const byte = bytes[digit];
    if (byte === undefined || !isHexadecimal(byte)) return problem(digit, "four hexadecimal digits behind \\u");
  }
  return undefined;
}

/** What is wrong with the word that begins at `at` as `word` does. */
export function brokenWord(bytes: Buffer, at: number, word: Buffer): JsonProblem | undefined {
  for (let same = 1; same < word.length; same++) {
    if (bytes[at + same] !== word[same]) return problem(at + same, `the word ${word.toString()}`);
  }
  return undefined;
}

/** The error of a body that is no JSON, that nests too deep, or that is nothing at all. */
export function noJson(bytes: Buffer, { at, expected }: JsonProblem, depthMax: number): ShoalError {
  if (expected === "nothing") return new ShoalError("invalid", "the request has no body: it must be JSON");
  if (expected === "tooDeep") return tooDeep(depthMax);
  const place = placeOf(bytes, at);
  const message = `${place}: found ${foundAt(bytes, at)}, expected ${expected.words}, near '${excerpt(bytes, at)}'`;
  return new ShoalError("malformed", `the request body is not valid JSON: ${message}`);
}

export function tooDeep(depthMax: number): ShoalError {
  const message = `the request body cannot be read: objects and lists stand inside of one another`;
  return new ShoalError("malformed", `${message} deeper than ${depthMax} levels, which is the most that is read`);
}

function problem(at: number, words: string): JsonProblem {
  return { at, expected: { words } };
}

function isHexadecimal(byte: number): boolean {
  const letter = byte | 0x20;
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66);
}

/** Of what lies further behind no lines are counted: that would take the event loop too long. */
const COUNTED_BYTES_MAX = 4 * 1024 * 1024;

function placeOf(bytes: Buffer, at: number): string {
  if (at > COUNTED_BYTES_MAX) return `at byte ${at}`;
  let line = 1;
  let column = 1;
  for (let i = 0; i < at; i++) {
    const byte = bytes[i] as number;
    if (byte === 0x0a) {
      line++;
      column = 1;
      // Bytes that go on with a character are none of their own.
    } else if ((byte & 0xc0) !== 0x80) column++;
  }
  return `line ${line}, column ${column}`;
}

function foundAt(bytes: Buffer, at: number): string {
  if (at >= bytes.length) return "the end of the text";
  const char = String.fromCodePoint(bytes.toString("utf8", at, at + 4).codePointAt(0) ?? 0xfffd);
  return `'${escapeText(char)}'`;
}

/** So many bytes before and behind the place are shown. */
const BYTES_BEFORE = 24;
const BYTES_BEHIND = 16;

/** What stands there; characters that are cut in two at its ends are left out. */
function excerpt(bytes: Buffer, at: number): string {
  let start = Math.max(0, at - BYTES_BEFORE);
  while (start > 0 && start < at && isContinuation(bytes[start])) start++;
  let end = Math.min(bytes.length, at + BYTES_BEHIND);
  while (end > at && end < bytes.length && isContinuation(bytes[end])) end--;
  return `${start > 0 ? "…" : ""}${escapeText(bytes.toString("utf8", start, end))}${end < bytes.length ? "…" : ""}`;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
