/** The shortest pause of a timer: what a write waits for others at most. */
const PAUSE_MS = 1;
/** Where commits are quicker than this, waiting is more expensive than one more of them. */
const COMMIT_MS_MIN = 0.5;
/** Of the mean duration of commits, what the last one counts for: clocks may know whole milliseconds only. */
const LAST_SHARE = 1 / 8;

/**
 * Lets writes share commits. Clients that are answered together come back together, a moment later: who begins with the
 * first of them commits some while the others wait, then those, and so on, and every commit costs a sync. So as many are
 * waited for as there were lately, never longer than a millisecond.
 */
export class CommitGathering {
  readonly #clock: () => number;
  #expected = 0;
  #meanMs = 0;
  #begunAtMs = 0;
  #complete: (() => void) | undefined;

  /** `clock`: milliseconds. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Resolves when as many writes wait as are expected, or others have been waited for long enough; undefined: now. */
  gather(waiting: number): Promise<void> | undefined {
    if (waiting >= this.#expected || this.#meanMs < COMMIT_MS_MIN) return undefined;
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PAUSE_MS);
      this.#complete = () => {
        clearTimeout(timer);
        this.#complete = undefined;
        resolve();
      };
    });
  }

  /** A write has come, `waiting` with it. */
  came(waiting: number): void {
    if (waiting >= this.#expected) this.#complete?.();
  }

  begins(): void {
    this.#complete = undefined;
    this.#begunAtMs = this.#clock();
  }

  /** A commit of `written` writes is over, others have come meanwhile. */
  ended(written: number, waiting: number): void {
    this.#expected = written + waiting;
    const tookMs = Math.max(0, this.#clock() - this.#begunAtMs);
    this.#meanMs += (tookMs - this.#meanMs) * LAST_SHARE;
  }
}
