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
    apply(changes: readonly PostingChange[], isLarge: boolean): void;
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

/** What changes memory when the records are durable. */
export interface DraftStep {
  /** Of postings. */
  readonly changes: number;
  /** `isLarge`: all steps together take too long; what is large may be given up and loaded again when it is asked for. */
  readonly apply: (isLarge: boolean) => void;
}

/** What a commit changes in one kind of postings of a property. */
export class PostingDraft {
  readonly #postings: DraftedPostings;
  /** The cached copy as it was when the draft began: no other commit changes it meanwhile, even when it is evicted. */
  readonly #cached: CachedPosting | undefined;
  /** By chunk and term; a number is one added offset, which is all there is of most terms. */
  readonly #chunks = new Map<number, Map<string, number | TermDraft>>();
  readonly #stored = new Map<string, Container>();

  constructor(postings: DraftedPostings) {
    this.#postings = postings;
    this.#cached = postings.slot.resident;
  }

  add(term: string, document: number): void {
    const terms = this.#terms(document);
    const before = terms.get(term);
    if (before === undefined) terms.set(term, document & OFFSET_MASK);
    else if (typeof before === "object") before.adds.push(document & OFFSET_MASK);
    else terms.set(term, { adds: [before, document & OFFSET_MASK], removes: [] });
  }

  remove(term: string, document: number): void {
    const terms = this.#terms(document);
    const before = terms.get(term);
    if (typeof before === "object") before.removes.push(document & OFFSET_MASK);
    else terms.set(term, { adds: before === undefined ? [] : [before], removes: [document & OFFSET_MASK] });
  }

  #terms(document: number): Map<string, number | TermDraft> {
    const chunk = document >>> POSTING_CHUNK_SHIFT;
    const known = this.#chunks.get(chunk);
    if (known !== undefined) return known;
    const terms = new Map<string, number | TermDraft>();
    this.#chunks.set(chunk, terms);
    return terms;
  }

  /** What has to be read from the store before {@link finish}; undefined when all is in memory. */
  *needs(yielder: Yielder): Work<NeededRecords | undefined> {
    if (this.#cached !== undefined) return undefined;
    const keys: Uint8Array[] = [];
    const names: string[] = [];
    for (const [chunk, terms] of this.#chunks) {
      for (const term of terms.keys()) {
        keys.push(this.#postings.keyOf(term, chunk));
        names.push(nameOf(chunk, term));
        yielder.count(KEY_STEPS);
        if (yielder.isDue) yield yielder.pause();
      }
    }
    return {
      keys,
      take: (values, from) => {
        for (const [at, value] of values.entries()) {
          if (value !== undefined) this.#stored.set(names[from + at] ?? "", this.#postings.decode(value));
        }
      },
    };
  }

  /** Adds the records to the batch; what is returned changes the cached copy, once they are durable. */
  *finish(batch: KeyValueChange[], yielder: Yielder): Work<DraftStep> {
    const changes: PostingChange[] = [];
    for (const [chunk, terms] of this.#chunks) {
      for (const [term, draft] of terms) {
        const before = this.#before(term, chunk);
        const container =
          typeof draft === "number"
            ? changedContainer(before, [draft], [])
            : changedContainer(before, draft.adds, draft.removes);
        const key = this.#postings.keyOf(term, chunk);
        if (container !== undefined) batch.push({ type: "put", key, value: encodeContainer(container) });
        else if (before !== undefined) batch.push({ type: "del", key });
        changes.push({ term, chunk, container });
        yielder.count(RECORD_STEPS);
        if (yielder.isDue) yield yielder.pause();
      }
    }
    return {
      changes: changes.length,
      apply: (isLarge) => this.#postings.slot.apply(changes, isLarge && changes.length > KEPT_CHANGES_MAX),
    };
  }

  #before(term: string, chunk: number): Container | undefined {
    return this.#cached === undefined ? this.#stored.get(nameOf(chunk, term)) : this.#cached.chunk(term, chunk);
  }
}

function nameOf(chunk: number, term: string): string {
  return `${chunk}:${term}`;
}
