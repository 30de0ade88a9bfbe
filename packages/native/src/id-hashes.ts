import { addon } from "./addon.js";

type HashIds = (words: Uint32Array, seed: number, length: number, hashes: Uint32Array) => void;

const native = addon as { readonly hashIds: HashIds };

/**
 * Fills `hashes` with MurmurHash3's 32 bit mixing of as many ids, four words each, from an unsigned `seed` on. `length` is what the
 * finalizer begins with: 16 for MurmurHash3 x86-32 of an id's bytes, 0 for the same without it. Throws a TypeError when there are fewer words.
 */
export const hashIds: HashIds = native.hashIds;
