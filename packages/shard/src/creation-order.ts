import { type DocumentChunks, END } from "./document-chunks.js";
import { compareDocuments } from "./id-order.js";

/**
 * Documents by creation time, as links in their chunks. Those of one time, as a batch makes them, stand as they came until a
 * page shows them; then they are put in the order of their ids, so that the next page need only walk.
 */
export class CreationOrder {
  readonly #chunks: DocumentChunks;
  #newest = END;
  #oldest = END;
  /** Created at one time from here on, and before that one, documents are in the order of their ids. */
  #sortedFrom = Number.POSITIVE_INFINITY;
  #sortedBefore = Number.NEGATIVE_INFINITY;

  constructor(chunks: DocumentChunks) {
    this.#chunks = chunks;
  }

  get newest(): number {
    return this.#newest;
  }
  get oldest(): number {
    return this.#oldest;
  }

  /** Takes the links of the chunks for an order that was kept there before. */
  adopt(newest: number, oldest: number): void {
    this.#newest = newest;
    this.#oldest = oldest;
    this.#forgetSorted();
  }

  /** The order must not change while this is being iterated, nor may pages be taken. */
  *newestFirst(): Iterable<number> {
    for (let document = this.#newest; document !== END; document = this.#chunks.older(document)) yield document;
  }

  /** So many documents behind the first `skip`: newest first, those of one time by raw uuid. */
  page(skip: number, limit: number): number[] {
    const chunks = this.#chunks;
    const documents: number[] = [];
    if (limit === 0 || this.#newest === END) return documents;
    const sortedFrom = this.#sortedFrom;
    const sortedBefore = this.#sortedBefore;
    let time = Number.NaN;
    let document = this.#newest;
    for (let position = 0; document !== END && position < skip + limit; position++) {
      if (chunks.creationTime(document) !== time) {
        time = chunks.creationTime(document);
        if (time < sortedFrom || time >= sortedBefore) document = this.#sortEqual(document, time);
      }
      if (position >= skip) documents.push(document);
      document = chunks.older(document);
    }
    // What was sorted before counts on only where this walk has come to it.
    this.#sortedFrom = time < sortedBefore ? Math.min(time, sortedFrom) : time;
    this.#sortedBefore = Number.POSITIVE_INFINITY;
    return documents;
  }

  /** Adds a document as the newest one. */
  linkNewest(document: number): void {
    const chunks = this.#chunks;
    chunks.setOlder(document, this.#newest);
    chunks.setNewer(document, END);
    if (this.#newest === END) this.#oldest = document;
    else chunks.setNewer(this.#newest, document);
    this.#newest = document;
    this.#sortedBefore = Math.min(this.#sortedBefore, chunks.creationTime(document));
  }

  linkOldest(document: number): void {
    const chunks = this.#chunks;
    chunks.setNewer(document, this.#oldest);
    chunks.setOlder(document, END);
    if (this.#oldest === END) this.#newest = document;
    else chunks.setOlder(this.#oldest, document);
    this.#oldest = document;
    if (chunks.creationTime(document) >= this.#sortedFrom) this.#forgetSorted();
  }

  unlink(document: number): void {
    this.#join(this.#chunks.newer(document), this.#chunks.older(document));
  }

  /** Sorts by id what was created at the time of `first`, the newest of them. The first one then. */
  #sortEqual(first: number, time: number): number {
    const chunks = this.#chunks;
    const documents: number[] = [];
    const newer = chunks.newer(first);
    let older = first;
    for (; older !== END && chunks.creationTime(older) === time; older = chunks.older(older)) documents.push(older);
    if (documents.length === 1) return first;
    documents.sort((a, b) => compareDocuments(chunks, a, b));
    let before = newer;
    for (const document of documents) {
      this.#join(before, document);
      before = document;
    }
    this.#join(before, older);
    return documents[0] as number;
  }

  #join(newer: number, older: number): void {
    if (newer === END) this.#newest = older;
    else this.#chunks.setOlder(newer, older);
    if (older === END) this.#oldest = newer;
    else this.#chunks.setNewer(older, newer);
  }

  #forgetSorted(): void {
    this.#sortedFrom = Number.POSITIVE_INFINITY;
    this.#sortedBefore = Number.NEGATIVE_INFINITY;
  }
}
