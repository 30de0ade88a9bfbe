import { CacheSlot } from "../cached/cache-slot.js";
import type { CachedPosting, PostingChange } from "../cached/cached-posting.js";
import { addContainerTo } from "../cached/term-entry.js";
import type { DocumentSet } from "../document-set.js";
import {
  headRange,
  type PostingKind,
  postingHead,
  postingKey,
  type Range,
  readPostingKey,
  termRange,
} from "../index-keys.js";
import { damaged, withPlace } from "../index-place.js";
import { type Container, decodeContainer } from "../records/container.js";
import { appliedEntries, type IndexStore } from "./index-store.js";

export interface StoredPosting {
  readonly term: string;
  readonly chunk: number;
  readonly container: Container;
}

/** One kind of postings of one property: in the store, and in memory when there is a cached copy of it. */
export class PropertyPostings<Cached extends CachedPosting> {
  readonly slot: CacheSlot<Cached, PostingChange>;
  readonly property: string;
  /** Terms are bytes written in latin1. */
  readonly raw: boolean;
  readonly #store: IndexStore;
  readonly #head: Buffer;

  /** `isNew`: the store has none of them. `loaded` gets the terms in their order. */
  constructor(
    store: IndexStore,
    property: string,
    kind: PostingKind,
    isNew: boolean,
    empty: () => Cached,
    loaded: (cached: Cached, terms: string[]) => void = () => {},
  ) {
    this.property = property;
    this.raw = kind === "longToken" || kind === "target" || kind === "flag";
    this.#store = store;
    this.#head = postingHead(store.prefixes, property, kind);
    this.slot = new CacheSlot<Cached, PostingChange>({
      memory: store.memory,
      empty,
      isNew,
      apply: (cached, change) => cached.set(change),
      load: (cached, bytesMax) => this.#load(cached, bytesMax, loaded),
    });
  }

  keyOf(term: string, chunk: number): Uint8Array {
    return postingKey(this.#head, term, this.raw, chunk);
  }

  /** Fails with `dataLoss` when the record is damaged. */
  decode(value: Uint8Array | Error): Container {
    if (value instanceof Error) throw withPlace(this.#store.place, this.property, value);
    const container = decodeContainer(value);
    if (container === undefined) throw damaged(this.#store.place, this.property, "a record of postings cannot be read");
    return container;
  }

  /** The documents of a term, read from the store. */
  async readTerm(term: string, into: DocumentSet): Promise<void> {
    const range = termRange(this.#head, term, this.raw);
    for await (const postings of this.scan(range)) {
      for (const { chunk, container } of postings) addContainerTo(container, chunk, into);
    }
  }

  /** All postings in the order of their terms, from the store; with a prefix those whose terms begin with it. */
  scanAll(prefix = ""): AsyncGenerator<readonly StoredPosting[]> {
    return this.scan(headRange(this.#head, prefix));
  }

  async *scan(range: Range): AsyncGenerator<readonly StoredPosting[]> {
    try {
      for await (const entries of appliedEntries(this.#store, range)) {
        yield entries.map(({ key, value }) => {
          const place = readPostingKey(key, this.#head.length, this.raw);
          if (place === undefined) throw damaged(this.#store.place, this.property, "a key of postings cannot be read");
          return { ...place, container: this.decode(value) };
        });
      }
    } catch (error) {
      throw withPlace(this.#store.place, this.property, error);
    }
  }

  async #load(cached: Cached, bytesMax: number, loaded: (cached: Cached, terms: string[]) => void): Promise<boolean> {
    const terms: string[] = [];
    for await (const postings of this.scanAll()) {
      for (const posting of postings) {
        if (terms[terms.length - 1] !== posting.term) terms.push(posting.term);
        cached.set(posting);
      }
      if (cached.bytes > bytesMax) return false;
    }
    loaded(cached, terms);
    return true;
  }
}
