import { ShoalError } from "@shoal/model";

/** Characters of a pattern: each of its words is compared with many words of the index. */
export const PATTERN_CHARS_MAX = 1_024;

/** Fails with `invalid`, naming limit and value, when a value has more characters than a pattern may have. */
export function checkLikeValue(value: string): void {
  // A code point has two units at most.
  if (value.length <= PATTERN_CHARS_MAX) return;
  const chars = [...value.slice(0, 2 * PATTERN_CHARS_MAX + 1)].length;
  if (chars <= PATTERN_CHARS_MAX) return;
  const start = value.slice(0, 40);
  throw new ShoalError("invalid", `a 'Like' pattern has at most ${PATTERN_CHARS_MAX} characters, '${start}…' has more`);
}

/** Whatever the engine does to find so few characters, its time is linear enough. */
const INSIDE_CHARS_MAX = 16;
const ANY_CHAR = -1;
const QUESTION_MARK = 0x3f;

/**
 * A pattern over whole tokens: `?` is one character, `*` any run of them. Its time is linear in the token for every
 * pattern: the parts between stars are looked for from left to right, each with the bits of a shift-and automaton
 * (R. Baeza-Yates and G. Gonnet, "A new approach to text searching", 1992), so that nothing is tried twice.
 */
export class LikePattern {
  /** What every match begins with. */
  readonly prefix: string;
  /** Has no wildcards: only the prefix itself matches. */
  readonly isPlain: boolean;
  /** Anything that begins with the prefix matches. */
  readonly isPrefix: boolean;
  /** Of `*part*` without question marks, short enough for the engine's own search. */
  readonly #inside: string | undefined;
  readonly #first: Int32Array;
  readonly #middle: readonly Segment[];
  /** Undefined without a star: the first part is all. */
  readonly #last: Int32Array | undefined;

  constructor(pattern: string) {
    const parts = pattern.split("*");
    const segments = parts.map(segmentOf);
    this.#first = segments[0] ?? new Int32Array(0);
    this.#last = segments.length > 1 ? segments[segments.length - 1] : undefined;
    this.#middle = segments
      .slice(1, -1)
      .filter((segment) => segment.length > 0)
      .map((chars) => new Segment(chars));
    const [head = "", inside = ""] = parts;
    const isInside = parts.length === 3 && head === "" && parts[2] === "" && !inside.includes("?");
    this.#inside = isInside && inside.length <= INSIDE_CHARS_MAX ? inside : undefined;
    this.prefix = head.split("?", 1)[0] ?? "";
    this.isPlain = parts.length === 1 && this.prefix === pattern;
    this.isPrefix =
      this.prefix === head && this.#last !== undefined && this.#last.length === 0 && this.#middle.length === 0;
  }

  matches(token: string): boolean {
    if (this.isPlain) return token === this.prefix;
    if (this.prefix !== "" && !token.startsWith(this.prefix)) return false;
    if (this.isPrefix) return true;
    if (this.#inside !== undefined) return token.includes(this.#inside);
    const length = readChars(token);
    const first = this.#first;
    const last = this.#last;
    if (last === undefined) return length === first.length && standsAt(first, 0);
    if (length < first.length + last.length || !standsAt(first, 0)) return false;
    const end = length - last.length;
    if (!standsAt(last, end)) return false;
    let at = first.length;
    for (const segment of this.#middle) {
      at = segment.behindFirst(at, end);
      if (at < 0) return false;
    }
    return true;
  }
}

/** The characters of the token that is looked at. */
let chars = new Int32Array(1024);

function readChars(token: string): number {
  if (token.length > chars.length) chars = new Int32Array(token.length);
  let length = 0;
  for (let at = 0; at < token.length; at++) {
    const code = token.codePointAt(at) ?? 0;
    if (code > 0xffff) at += 1;
    chars[length++] = code;
  }
  return length;
}

function segmentOf(part: string): Int32Array {
  return Int32Array.from(part, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return code === QUESTION_MARK ? ANY_CHAR : code;
  });
}

function standsAt(segment: ArrayLike<number>, start: number): boolean {
  for (let at = 0; at < segment.length; at++) {
    if (segment[at] !== ANY_CHAR && segment[at] !== chars[start + at]) return false;
  }
  return true;
}

/** A part between two stars. */
class Segment {
  readonly #length: number;
  readonly #words: number;
  /** Bits of the places at which a character may stand. */
  readonly #places = new Map<number, Uint32Array>();
  readonly #anywhere: Uint32Array;

  constructor(segment: Int32Array) {
    this.#length = segment.length;
    this.#words = (segment.length + 31) >>> 5;
    this.#anywhere = new Uint32Array(this.#words);
    for (let at = 0; at < segment.length; at++) if (segment[at] === ANY_CHAR) setBit(this.#anywhere, at);
    for (let at = 0; at < segment.length; at++) {
      const char = segment[at] ?? 0;
      if (char === ANY_CHAR) continue;
      const places = this.#places.get(char) ?? this.#anywhere.slice();
      setBit(places, at);
      this.#places.set(char, places);
    }
  }

  /** Where the first occurrence within `start` and `end` ends; -1 when there is none. */
  behindFirst(start: number, end: number): number {
    if (end - start < this.#length) return -1;
    const words = this.#words;
    const goal = 1 << ((this.#length - 1) & 31);
    const state = new Uint32Array(words);
    for (let at = start; at < end; at++) {
      const places = this.#places.get(chars[at] ?? 0) ?? this.#anywhere;
      let carry = 1;
      for (let word = 0; word < words; word++) {
        const before = state[word] ?? 0;
        state[word] = ((before << 1) | carry) & (places[word] ?? 0);
        carry = before >>> 31;
      }
      if (((state[words - 1] ?? 0) & goal) !== 0) return at + 1;
    }
    return -1;
  }
}

function setBit(words: Uint32Array, bit: number): void {
  words[bit >>> 5] = (words[bit >>> 5] ?? 0) | (1 << (bit & 31));
}
