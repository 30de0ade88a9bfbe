import { FLAG_NAMES, FLAGS, type Flag } from "../analysis/flags.js";
import { DocumentSet } from "../document-set.js";
import { POSTING_CHUNK_DOCUMENTS } from "../index-keys.js";
import { addToWords, BITMAP_WORDS, type Container, containerOfWords } from "../records/container.js";
import type { CachedPosting, PostingChange } from "./cached-posting.js";

/** The flags of a property in memory, a bitmap each. */
export class CachedFlag implements CachedPosting {
  readonly #sets: readonly DocumentSet[] = FLAG_NAMES.map(() => new DocumentSet());

  get bytes(): number {
    return this.#sets.reduce((bytes, set) => bytes + set.words.byteLength, 500);
  }

  /** Not to be changed; follows commits. */
  documents(flag: Flag): DocumentSet {
    return this.#sets[FLAGS[flag]] ?? new DocumentSet();
  }

  chunk(term: string, chunk: number): Container | undefined {
    const set = this.#sets[term.charCodeAt(0)];
    const words = set?.words.subarray(chunk * BITMAP_WORDS, (chunk + 1) * BITMAP_WORDS);
    if (words === undefined || words.length === 0) return undefined;
    if (words.length === BITMAP_WORDS) return containerOfWords(words.slice());
    const whole = new Uint32Array(BITMAP_WORDS);
    whole.set(words);
    return containerOfWords(whole);
  }

  set({ term, chunk, container }: PostingChange): void {
    const set = this.#sets[term.charCodeAt(0)];
    if (set === undefined) return;
    set.reserve((chunk + 1) * POSTING_CHUNK_DOCUMENTS);
    const start = chunk * BITMAP_WORDS;
    set.words.fill(0, start, start + BITMAP_WORDS);
    if (container !== undefined) addToWords(container, set.words, start);
  }
}
