import { ShoalError } from "@shoal/model";

/** Uniformly random bytes, `count` of them. */
export type RandomBytes = (count: number) => Uint8Array;

const ALPHABET = new TextEncoder().encode("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
/** Six bits of a byte choose one of the 62 letters; the two values that stand for none are drawn again. */
const SIX_BITS = 63;
/** Bytes asked of the source at once: a call into the system's generator costs as much as some hundred bytes. */
const BLOCK_BYTES = 4_096;

/** Random numbers and names out of random bytes, which are drawn in blocks. */
export class RandomLetters {
  readonly #randomBytes: RandomBytes;
  #block: Uint8Array = new Uint8Array(0);
  #at = 0;

  constructor(randomBytes: RandomBytes) {
    this.#randomBytes = randomBytes;
  }

  /** `count` letters and digits, uniformly and independently. */
  name(count: number): string {
    let name = "";
    while (name.length < count) {
      const letter = ALPHABET[this.#byte() & SIX_BITS];
      if (letter !== undefined) name += String.fromCharCode(letter);
    }
    return name;
  }

  /** An integer from 0 up to but not including `below` (at most 2^32), uniformly. */
  below(below: number): number {
    const even = 2 ** 32 - (2 ** 32 % below);
    for (;;) {
      let drawn = 0;
      for (let i = 0; i < 4; i++) drawn = drawn * 256 + this.#byte();
      if (drawn < even) return drawn % below;
    }
  }

  #byte(): number {
    if (this.#at >= this.#block.length) {
      this.#block = this.#randomBytes(BLOCK_BYTES);
      if (this.#block.length === 0) throw new ShoalError("internal", "the source of random bytes gave none");
      this.#at = 0;
    }
    return this.#block[this.#at++] ?? 0;
  }
}
