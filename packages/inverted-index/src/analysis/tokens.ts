import { createHash } from "node:crypto";
import { eachRun, runsOf } from "@shoal/model";
import type { Work, Yielder } from "@shoal/runtime";

/** How a text is cut into tokens: `text` at what is no letter or number, lower-cased; `string` at white space. */
export type Tokenization = "text" | "string";

/** Longer tokens stand in the index by their hash. */
export const TERM_BYTES_MAX = 256;

const WORDS = /[\p{L}\p{N}]+/gu;
const WORDS_WITH_WILDCARDS = /[\p{L}\p{N}*?]+/gu;
const NOT_SPACES = /[^\p{White_Space}]+/gu;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** The tokens of a value without doubles, in their order. A half of a surrogate pair counts as U+FFFD, as UTF-8 has none. */
export function tokensOf(text: string, tokenization: Tokenization): readonly string[] {
  if (isOnePlainToken(text, tokenization)) return [text];
  if (tokenization === "string") return distinct(runsOf(wellFormed(text), NOT_SPACES));
  return distinct(runsOf(text, WORDS).map(lowerCased));
}

/** Texts of more characters are cut in steps. */
export const STEP_CHARS = 64 * 1024;
const TOKEN_STEPS = 120;
/** Looking for tokens in a part of a text. */
const PART_STEPS = 160_000;

/** As {@link tokensOf}, for long texts. */
export function* tokensInSteps(text: string, tokenization: Tokenization, yielder: Yielder): Work<readonly string[]> {
  const tokens = new Set<string>();
  const words = tokenization === "text" ? text : wellFormed(text);
  for (const word of eachRun(words, tokenization === "text" ? WORDS : NOT_SPACES)) {
    if (word !== undefined) tokens.add(tokenization === "text" ? lowerCased(word) : word);
    yielder.count(word === undefined ? PART_STEPS : TOKEN_STEPS + word.length);
    if (yielder.isDue) yield yielder.pause();
  }
  return [...tokens];
}

/** As {@link tokensOf} for the pattern of a `Like`: `*` and `?` belong to the words. */
export function patternTokensOf(text: string, tokenization: Tokenization): readonly string[] {
  if (tokenization === "string") return tokensOf(text, tokenization);
  return distinct(runsOf(text, WORDS_WITH_WILDCARDS).map(lowerCased));
}

/** Lower-case letters and digits of ASCII are the commonest tokens by far. */
function isOnePlainToken(text: string, tokenization: Tokenization): boolean {
  if (text.length === 0 || text.length > TERM_BYTES_MAX) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const plain = (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39);
    if (!plain && (tokenization === "text" || code <= 0x20 || code >= 0x7f)) return false;
  }
  return true;
}

/** Each character by itself: a token is the same whatever stands beside it. */
function lowerCased(token: string): string {
  return token.includes("Σ") ? Array.from(token, (char) => char.toLowerCase()).join("") : token.toLowerCase();
}

function distinct(tokens: readonly string[]): readonly string[] {
  return tokens.length < 2 ? tokens : [...new Set(tokens)];
}

export function isWellFormed(text: string): boolean {
  return text.search(LONE_SURROGATES) < 0;
}

function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATES, "\ufffd");
}

/** Whether a term is too long to be a key. */
export function isLongTerm(term: string): boolean {
  return term.length > TERM_BYTES_MAX || (term.length * 3 > TERM_BYTES_MAX && Buffer.byteLength(term) > TERM_BYTES_MAX);
}

/** 16 bytes as latin1: what stands for a long token. Nobody finds two tokens with the same. */
export function longTermHash(term: string): string {
  return createHash("sha256").update(term).digest().toString("latin1", 0, 16);
}
