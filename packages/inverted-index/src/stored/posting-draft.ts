import type { KeyValueChange } from "@shoal/kv";
import type { Work, Yielder } from "@shoal/runtime";
import type { CachedPosting, PostingChange } from "../cached/cached-posting.js";
import { POSTING_CHUNK_DOCUMENTS, POSTING_CHUNK_SHIFT } from "../index-keys.js";
import { type Container, changedContainer, encodeContainer } from "../records/container.js";
import type { NeededRecords } from "./index-store.js";

const OFFSET_MASK = POSTING_CHUNK_DOCUMENTS - 1;

/** What a draft needs of {@link PropertyPostings}. */
export interface DraftedPostings {
  readonly slot: {
    readonly resident: CachedPosting | undefined;
    apply(changes: readonly PostingChange[]): void;
    forget(): void;
  };
  keyOf(term: string, chunk: number): Uint8Array;
  decode(value: Uint8Array | Error): Container;
}

/** Making a record. */
const RECORD_STEPS = 500;
const KEY_STEPS = 200;
/** With no more changes a cached copy is kept, however large the commit is. */
const KEPT_CHANGES_MAX = 1000;

interface TermDraft {
  readonly adds: number[];
  readonly removes: number[];
}

/** What a commit changes in one kind of postings of a property. */
export class PostingDraft {
  readonly #postings: DraftedPostings;
  /** The cached copy as it was when the draft began: no other commit changes it meanwhile, even when it is evicted. */
  readonly #cached: CachedPosting | undefined;
  /** By chunk and term; a number is one offset, which is all there is of most terms: added, or removed as `~offset`. */
  readonly #chunks = new Map<number, Map<string, number | TermDraft>>();
  /** By chunk and term. */
  readonly #stored = new Map<number, Map<string, Container>>();

  #last: { readonly container: Container; readonly bytes: Uint8Array } | undefined;

  constructor(postings: DraftedPostings) {
    this.#postings = postings;
    this.#cached = postings.slot.resident;
  }

  add(term: string, document: number): void {
    const terms = this.#terms(document);
    const before = terms.get(term);
    if (before === undefined) terms.set(term, document & OFFSET_MASK);
    else lists(terms, term, before).adds.push(document & OFFSET_MASK);
  }

  remove(term: string, document: number): void {
    const terms = this.#terms(document);
    const before = terms.get(term);
    if (before === undefined) terms.set(term, ~(document & OFFSET_MASK));
    else lists(terms, term, before).removes.push(document & OFFSET_MASK);
  }

  #terms(document: number): Map<string, number | TermDraft> {
    const chunk = document >>> POSTING_CHUNK_SHIFT;
    const known = this.#chunks.get(chunk);
    if (known !== undefined) return known;
    const terms = new Map<string, number | TermDraft>();
    this.#chunks.set(chunk, terms);
    return terms;
  }

  /** How many records it changes. */
  get size(): number {
    let count = 0;
    for (const terms of this.#chunks.values()) count += terms.size;
    return count;
  }

  /** What has to be read from the store before {@link finish}; undefined when all is in memory. */
  *needs(yielder: Yielder): Work<NeededRecords | undefined> {
    if (this.#cached !== undefined) return undefined;
    const chunks: number[] = [];
    const terms: string[] = [];
    for (const [chunk, ofChunk] of this.#chunks) {
      for (const term of ofChunk.keys()) {
        chunks.push(chunk);
        terms.push(term);
        yielder.count(KEY_STEPS);
        if (yielder.isDue) yield yielder.pause();
      }
    }
    const chunkAt = (at: number) => chunks[at] ?? 0;
    return {
      count: terms.length,
      keys: (from, to) => terms.slice(from, to).map((term, at) => this.#postings.keyOf(term, chunkAt(from + at))),
      take: (values, from) => {
        for (const [at, value] of values.entries()) {
          if (value === undefined) continue;
          this.#store(chunkAt(from + at), terms[from + at] ?? "", this.#postings.decode(value));
        }
      },
    };
  }

  #store(chunk: number, term: string, container: Container): void {
    const known = this.#stored.get(chunk);
    if (known === undefined) this.#stored.set(chunk, new Map([[term, container]]));
    else known.set(term, container);
  }

  /**
   * Adds the records to the batch; what is returned changes the cached copy, once they are durable. `isLarge`: the changes of the
   * whole commit take too long for one step; a cached copy with many of them is given up, and loaded again when it is asked for.
   */
  *finish(batch: KeyValueChange[], isLarge: boolean, yielder: Yielder): Work<() => void> {
    const { slot } = this.#postings;
    const changes: PostingChange[] | undefined = isLarge && this.size > KEPT_CHANGES_MAX ? undefined : [];
    for (const [chunk, terms] of this.#chunks) {
      for (const [term, draft] of terms) {
        const before = this.#before(term, chunk);
        const { adds, removes } = listsOf(draft);
        const container = changedContainer(before, adds, removes);
        const key = this.#postings.keyOf(term, chunk);
        if (container !== undefined) batch.push({ type: "put", key, value: this.#encoded(container) });
        else if (before !== undefined) batch.push({ type: "del", key });
        changes?.push({ term, chunk, container });
        yielder.count(RECORD_STEPS);
        if (yielder.isDue) yield yielder.pause();
      }
    }
    // The step that changes memory keeps the draft until the commit has ended.
    this.#chunks.clear();
    this.#stored.clear();
    return changes === undefined ? () => slot.forget() : () => slot.apply(changes);
  }

  #before(term: string, chunk: number): Container | undefined {
    return this.#cached === undefined ? this.#stored.get(chunk)?.get(term) : this.#cached.chunk(term, chunk);
  }

  /** Of an object with many words most records are the same. */
  #encoded(container: Container): Uint8Array {
    if (this.#last !== undefined && this.#last.container === container) return this.#last.bytes;
    const bytes = encodeContainer(container);
    this.#last = { container, bytes };
    return bytes;
  }
}

function lists(terms: Map<string, number | TermDraft>, term: string, before: number | TermDraft): TermDraft {
  if (typeof before === "object") return before;
  const draft = listsOf(before);
  terms.set(term, draft);
  return draft;
}

function listsOf(draft: number | TermDraft): TermDraft {
  if (typeof draft === "object") return draft;
  return draft < 0 ? { adds: [], removes: [~draft] } : { adds: [draft], removes: [] };
}
