import type { Work, Yielder } from "@shoal/runtime";
import type { Tokenization } from "./tokens.js";

/** Longer elements of a list are no whole values of the index: `analyse-value.ts`. */
const ELEMENT_BYTES_MAX = 128;
/** Places in the sketch for each byte: different words that share one are counted once, at most one in ten. */
const PLACES_A_BYTE = 2;
const PLACES_MAX = 2 ** 26;
/** Bytes that are looked at before the yielder is asked. */
const PART_BYTES = 16 * 1024;
/** A byte takes two nanoseconds or so. */
const BYTE_STEPS = 1;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_OF_MANY_BYTES = 0x80;
/** After a backslash: white space. */
const ESCAPED_SPACES = new Set(Array.from("nrtf", (letter) => letter.charCodeAt(0)));
const HASH_START = 0x811c9dc5;

/**
 * About how many bytes the different words of stored texts have together, and their different short elements: what takes a key and a
 * record each. It looks at bytes, and rather takes two words for one than one for two: only ASCII separates them.
 */
export class DistinctBytes {
  readonly #seen: Uint32Array;
  readonly #mask: number;
  readonly #isInside: Uint8Array;
  #bytes = 0;

  /** `length`: of all that will be added. */
  constructor(length: number, tokenization: Tokenization) {
    const places = Math.min(PLACES_MAX, 2 ** Math.ceil(Math.log2(length * PLACES_A_BYTE + 32)));
    this.#seen = new Uint32Array(places / 32);
    this.#mask = places - 1;
    this.#isInside = Uint8Array.from({ length: 256 }, (_, byte) => Number(isInside(byte, tokenization)));
  }

  /** So far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds a text, or a list of texts, in JSON. */
  *add(json: Uint8Array, yielder: Yielder): Work<void> {
    let word = HASH_START;
    let wordFrom = 0;
    let element = HASH_START;
    let elementFrom = 0;
    let escapes = false;
    for (let from = 0; from < json.length; from += PART_BYTES) {
      const end = Math.min(json.length, from + PART_BYTES);
      for (let at = from; at < end; at++) {
        const byte = json[at] ?? 0;
        const isEscaped: boolean = escapes;
        escapes = byte === BACKSLASH && !isEscaped;
        element = mixed(element, byte);
        if (this.#isInside[byte] === 1 && !(isEscaped && ESCAPED_SPACES.has(byte))) {
          word = mixed(word, byte);
          continue;
        }
        if (at > wordFrom) this.#count(word, at - wordFrom + 1);
        word = HASH_START;
        wordFrom = at + 1;
        if (byte !== QUOTE || isEscaped) continue;
        if (at - elementFrom <= ELEMENT_BYTES_MAX) this.#count(element, at - elementFrom);
        element = HASH_START;
        elementFrom = at + 1;
      }
      yielder.count((end - from) * BYTE_STEPS);
      if (yielder.isDue) yield yielder.pause();
    }
  }

  #count(hash: number, bytes: number): void {
    const place = finished(hash) & this.#mask;
    const [at, bit] = [place >>> 5, 1 << (place & 31)];
    const seen = this.#seen[at] ?? 0;
    if ((seen & bit) !== 0) return;
    this.#seen[at] = seen | bit;
    this.#bytes += bytes;
  }
}

function isInside(byte: number, tokenization: Tokenization): boolean {
  if (byte >= FIRST_OF_MANY_BYTES) return true;
  const char = String.fromCharCode(byte);
  return tokenization === "text" ? /[A-Za-z0-9]/.test(char) : byte > 0x20 && byte !== QUOTE;
}

function mixed(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

function finished(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}
