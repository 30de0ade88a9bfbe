/**
 * Decides when the document id of a deleted object may be used again: when every search that began before the deletion
 * has ended. Otherwise a search could find the old vector and answer with the new object.
 *
 * Two generations of running searches are counted. Ids freed during the newer one wait until it has become the older
 * one and that has run out.
 */
export class DocumentRecycling {
  readonly #recycle: (document: number) => void;
  #generation = 0;
  #runningOlder = 0;
  #runningNewer = 0;
  #waitingForOlder: number[] = [];
  #freedNow: number[] = [];
  /** Called at the next recycling. */
  #waiters: (() => void)[] = [];

  constructor(recycle: (document: number) => void) {
    this.#recycle = recycle;
  }

  /** A search begins; what it returns goes to `searchEnded`. */
  searchBegan(): number {
    this.#runningNewer += 1;
    return this.#generation;
  }

  searchEnded(generation: number): void {
    if (generation === this.#generation) this.#runningNewer -= 1;
    else this.#runningOlder -= 1;
    this.#advance();
  }

  /** What works on documents that it has found. */
  async runSearch<Result>(search: () => Promise<Result>): Promise<Result> {
    const began = this.searchBegan();
    try {
      return await search();
    } finally {
      this.searchEnded(began);
    }
  }

  /** The document's object is gone from the table and the index. */
  release(document: number): void {
    this.#freedNow.push(document);
    this.#advance();
  }

  /** Document ids that may not be used yet. */
  held(): ReadonlySet<number> {
    return new Set([...this.#waitingForOlder, ...this.#freedNow]);
  }

  /** Resolves when none of the document ids is held any more; undefined: none is. */
  whenFree(documents: ReadonlySet<number>): Promise<void> | undefined {
    const isHeld = (document: number) => documents.has(document);
    if (!this.#waitingForOlder.some(isHeld) && !this.#freedNow.some(isHeld)) return undefined;
    return new Promise<void>((resolve) => this.#waiters.push(resolve)).then(() => this.whenFree(documents));
  }

  #advance(): void {
    while (this.#runningOlder === 0 && this.#waitingForOlder.length + this.#freedNow.length > 0) {
      for (const document of this.#waitingForOlder) this.#recycle(document);
      this.#waitingForOlder = this.#freedNow;
      this.#freedNow = [];
      this.#runningOlder = this.#runningNewer;
      this.#runningNewer = 0;
      this.#generation += 1;
      if (this.#waiters.length > 0) for (const resolve of this.#waiters.splice(0)) resolve();
    }
  }
}
