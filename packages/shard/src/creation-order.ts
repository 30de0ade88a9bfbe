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
  /** Where the last document was put, or beside it; END only when there is none. */
  #lastLinked = END;
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
    this.#lastLinked = newest;
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

  /**
   * Puts a document where its creation time belongs, which is in front while clocks go forward. After one was set back it is
   * looked for from where the last one was put: only the first then passes over those that are newer.
   */
  link(document: number): void {
    const chunks = this.#chunks;
    const time = chunks.creationTime(document);
    const older = this.#newest === END || chunks.creationTime(this.#newest) <= time ? this.#newest : this.#upTo(time);
    const newer = older === this.#newest ? END : older === END ? this.#oldest : chunks.newer(older);
    this.#join(newer, document);
    this.#join(document, older);
    this.#lastLinked = document;
    if (time >= this.#sortedFrom) this.#sortedBefore = Math.min(this.#sortedBefore, time);
  }

  /** Adds a document in front, whatever its time. For an order that is made again. */
  linkNewest(document: number): void {
    const newest = this.#newest;
    this.#join(END, document);
    this.#join(document, newest);
    this.#lastLinked = document;
    this.#forgetSorted();
  }

  unlink(document: number): void {
    const [newer, older] = [this.#chunks.newer(document), this.#chunks.older(document)];
    if (document === this.#lastLinked) this.#lastLinked = older === END ? newer : older;
    this.#join(newer, older);
  }

  /** The newest document of that time or before it, END when there is none; the newest of all is newer. */
  #upTo(time: number): number {
    const chunks = this.#chunks;
    if (time <= chunks.creationTime(this.#oldest)) return END;
    let document = this.#lastLinked;
    while (chunks.creationTime(document) > time) document = chunks.older(document);
    for (let newer = chunks.newer(document); chunks.creationTime(newer) <= time; newer = chunks.newer(newer)) {
      document = newer;
    }
    return document;
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
