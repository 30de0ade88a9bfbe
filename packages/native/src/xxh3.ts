import { addon } from "./addon.js";

interface Xxh3Addon {
  xxh3Write(key: Uint8Array, payload: Uint8Array, target: Uint8Array, targetOffset: number): void;
  xxh3Matches(key: Uint8Array, payload: Uint8Array, expected: Uint8Array, expectedOffset: number): boolean;
  xxh3Begin(): object;
  xxh3Update(state: object, bytes: Uint8Array): void;
  xxh3Digest(state: object, target: Uint8Array, targetOffset: number): void;
}

const native = addon as Xxh3Addon;

/** Bytes of a hash. */
export const XXH3_BYTES = 8;

/**
 * Writes XXH3-64 (seed 0) of `key` followed by `payload` as 8 little-endian bytes to `target` at `targetOffset`.
 * Throws a TypeError when they do not fit.
 */
export const xxh3Write: Xxh3Addon["xxh3Write"] = native.xxh3Write;

/** Whether the 8 bytes of `expected` at `expectedOffset` are what `xxh3Write` would write for `key` and `payload`. */
export const xxh3Matches: Xxh3Addon["xxh3Matches"] = native.xxh3Matches;

/** XXH3-64 (seed 0) of bytes that come in pieces: the same hash as of all of them at once. */
export class Xxh3Hasher {
  readonly #state = native.xxh3Begin();

  update(bytes: Uint8Array): this {
    native.xxh3Update(this.#state, bytes);
    return this;
  }

  /** Writes the hash of everything so far; more may follow. */
  digestInto(target: Uint8Array, targetOffset: number): void {
    native.xxh3Digest(this.#state, target, targetOffset);
  }

  digest(): Uint8Array {
    const hash = new Uint8Array(XXH3_BYTES);
    this.digestInto(hash, 0);
    return hash;
  }
}
