/**
 * Times of commits. They never go back: while the clock is behind the last time given out (it was set back, or an object
 * came from a faster clock), each commit gets one millisecond more, so that the newest object keeps the latest time and
 * few objects share one.
 */
export class WriteClock {
  readonly #clock: () => number;
  #last: number;

  /** `clock`: milliseconds since 1970. `last`: latest time in use. */
  constructor(clock: () => number, last: number) {
    this.#clock = clock;
    this.#last = last;
  }

  /** The clock itself, for durations. */
  get nowMs(): number {
    return this.#clock();
  }

  next(): number {
    const now = Math.floor(this.#clock());
    this.#last = now >= this.#last ? now : this.#last + 1;
    return this.#last;
  }
}
