import type { Container } from "../records/container.js";

/** What a commit makes of one chunk of one term: the whole chunk; undefined: no document is left in it. */
export interface PostingChange {
  readonly term: string;
  readonly chunk: number;
  readonly container: Container | undefined;
}

/** Postings in memory: all of one kind of a property. */
export interface CachedPosting {
  /** About what it takes in memory. */
  readonly bytes: number;
  chunk(term: string, chunk: number): Container | undefined;
  set(change: PostingChange): void;
}
