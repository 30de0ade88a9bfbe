import {
  brokenEscape,
  brokenNumber,
  brokenString,
  brokenWord,
  type Expected,
  type JsonProblem,
  unexpected,
} from "./scan-problem.js";

/** What {@link JsonScanner.next} has come to. */
export type JsonToken = "problem" | "pause" | "end" | "open" | "close" | "key" | "string" | "number" | "word";

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LOWER_U = 0x75;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes that stand for themselves in a string. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  Number(byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH),
);
const WORDS: ReadonlyMap<number, Buffer> = new Map(
  ["true", "false", "null"].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
);

const NO_VALUE: JsonProblem = { at: 0, expected: "nothing" };

/** What a number has come to, as far as it is read. */
type NumberPart = "sign" | "zero" | "digits" | "point" | "fraction" | "e" | "exponentSign" | "exponent";

/**
 * Reads the first JSON value of a text token by token without building it; what follows it is ignored, as the reference
 * does. It can be left at any byte and go on later, also within a string or a number, so that a text of any length can be
 * read in steps. Takes no stack, however deep the value is.
 */
export class JsonScanner {
  /** The place behind the last token. */
  at = 0;
  /** The first byte of the last token. */
  start = 0;
  /** Objects and lists that are open. */
  depth = 0;
  /** What is wrong with the text, when that is so. */
  problem: JsonProblem = NO_VALUE;
  members = 0;
  containers = 0;
  /** Strings, numbers and words that are no names of members. */
  scalars = 0;
  /** Of each open container, whether it is an object. */
  readonly #isObject: boolean[] = [];
  #expected: Expected | "end" = "value";
  #within: "string" | "number" | undefined;
  #part: NumberPart = "sign";
  /** Where the number ends when it goes no further; 0 when it is none yet. */
  #numberEnd = 0;

  constructor(
    private readonly bytes: Buffer,
    private readonly depthMax: number,
  ) {}

  /** Reads one token; `pause` as soon as `pauseAt` is reached. Ends with `end`, or with `problem`. */
  next(pauseAt: number): JsonToken {
    if (this.#within === "string") return this.#string(pauseAt);
    if (this.#within === "number") return this.#number(pauseAt);
    const bytes = this.bytes;
    for (;;) {
      const expected = this.#expected;
      if (expected === "end") return "end";
      let at = this.at;
      let byte = bytes[at];
      while ((byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) && at < pauseAt) byte = bytes[++at];
      this.at = at;
      if (byte === undefined) return this.#fail(this.#isUntouched ? NO_VALUE : unexpected(at, expected));
      if (at >= pauseAt) return "pause";
      this.start = at;
      if (expected === "colon") {
        if (byte !== COLON) return this.#fail(unexpected(at, expected));
        this.#expected = "value";
        this.at++;
      } else if (expected === "key" || (expected === "keyOrEnd" && byte !== CLOSE_BRACE)) {
        if (byte !== QUOTE) return this.#fail(unexpected(at, expected));
        return this.#beginString(pauseAt);
      } else if (expected !== "value" && byte === (this.#isObject.at(-1) === true ? CLOSE_BRACE : CLOSE_BRACKET)) {
        return this.#close(at + 1);
      } else if (expected === "commaOrObjectEnd" || expected === "commaOrArrayEnd") {
        if (byte !== COMMA) return this.#fail(unexpected(at, expected));
        this.#expected = expected === "commaOrObjectEnd" ? "key" : "value";
        this.at++;
      } else return this.#value(byte, expected, pauseAt);
    }
  }

  /** Takes the list that has just been opened as read up to its closing bracket, behind which `end` is. */
  skipList(end: number): void {
    this.#close(end);
  }

  get #isUntouched(): boolean {
    return this.depth === 0 && this.#expected === "value";
  }

  #value(byte: number, expected: Expected, pauseAt: number): JsonToken {
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return this.#open(byte === OPEN_BRACE);
    if (byte === QUOTE) return this.#beginString(pauseAt);
    if (byte === MINUS || (byte >= ZERO && byte <= ZERO + 9)) {
      this.#within = "number";
      this.#part = "sign";
      this.#numberEnd = 0;
      if (byte === MINUS) this.at++;
      return this.#number(pauseAt);
    }
    const word = WORDS.get(byte);
    if (word === undefined) return this.#fail(unexpected(this.at, expected));
    const problem = brokenWord(this.bytes, this.at, word);
    if (problem !== undefined) return this.#fail(problem);
    this.at += word.length;
    return this.#scalar("word");
  }

  #open(isObject: boolean): JsonToken {
    if (this.depth >= this.depthMax) return this.#fail({ at: this.at, expected: "tooDeep" });
    this.depth++;
    this.containers++;
    this.#isObject.push(isObject);
    this.#expected = isObject ? "keyOrEnd" : "valueOrEnd";
    this.at++;
    return "open";
  }

  #close(end: number): JsonToken {
    this.depth--;
    this.#isObject.pop();
    this.at = end;
    this.#valueEnds();
    return "close";
  }

  #scalar(token: JsonToken): JsonToken {
    this.#within = undefined;
    this.scalars++;
    this.#valueEnds();
    return token;
  }

  #valueEnds(): void {
    if (this.depth === 0) this.#expected = "end";
    else this.#expected = this.#isObject.at(-1) === true ? "commaOrObjectEnd" : "commaOrArrayEnd";
  }

  #fail(problem: JsonProblem): JsonToken {
    this.problem = problem;
    return "problem";
  }

  #beginString(pauseAt: number): JsonToken {
    this.#within = "string";
    this.at++;
    return this.#string(pauseAt);
  }

  #string(pauseAt: number): JsonToken {
    const bytes = this.bytes;
    const end = Math.min(bytes.length, pauseAt);
    for (let at = this.at; ; ) {
      while (at < end && PLAIN[bytes[at] as number] === 1) at++;
      this.at = at;
      if (at >= bytes.length) return this.#fail(brokenString(bytes, at));
      if (at >= end) return "pause";
      const byte = bytes[at];
      if (byte === QUOTE) return this.#endString();
      if (byte !== BACKSLASH) return this.#fail(brokenString(bytes, at));
      const problem = brokenEscape(bytes, at + 1);
      if (problem !== undefined) return this.#fail(problem);
      at += bytes[at + 1] === LOWER_U ? 6 : 2;
    }
  }

  #endString(): JsonToken {
    this.at++;
    const expected = this.#expected;
    if (expected !== "key" && expected !== "keyOrEnd") return this.#scalar("string");
    this.#within = undefined;
    this.members++;
    this.#expected = "colon";
    return "key";
  }

  #number(pauseAt: number): JsonToken {
    const bytes = this.bytes;
    let at = this.at;
    for (;;) {
      const byte = bytes[at];
      if (byte === undefined) break;
      if (at >= pauseAt) {
        this.at = at;
        return "pause";
      }
      const part = partBehind(this.#part, byte);
      if (part === undefined) break;
      this.#part = part;
      at++;
      if (part === "zero" || part === "digits" || part === "fraction" || part === "exponent") this.#numberEnd = at;
    }
    if (this.#numberEnd > 0) {
      this.at = this.#numberEnd;
      return this.#scalar("number");
    }
    return this.#fail(brokenNumber(at));
  }
}

/** What a number comes to with one more byte; undefined when the byte is none of it. */
function partBehind(part: NumberPart, byte: number): NumberPart | undefined {
  if (byte >= ZERO && byte <= ZERO + 9) {
    if (part === "digits" || part === "fraction" || part === "exponent") return part;
    if (part === "sign") return byte === ZERO ? "zero" : "digits";
    if (part === "point") return "fraction";
    return part === "zero" ? undefined : "exponent";
  }
  if (byte === POINT) return part === "zero" || part === "digits" ? "point" : undefined;
  if ((byte | 0x20) === 0x65) return part === "zero" || part === "digits" || part === "fraction" ? "e" : undefined;
  if (byte === 0x2b || byte === MINUS) return part === "e" ? "exponentSign" : undefined;
  return undefined;
}
