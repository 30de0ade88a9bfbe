import { Waiters } from "./waiters.js";

/** What an outage goes by. */
export interface OutageClock {
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** Between two questions to a shard that does not answer: 100 to 150 ms. */
const PAUSE_MS = 100;

/**
 * A time in which nobody answers for a shard. Requests wait, and ask one after the other with a pause between them, however many
 * they are; the first that is answered ends it for all.
 */
export class ShardOutage {
  readonly sinceMs: number;
  /** When somebody asked in vain last. */
  lastMs: number;
  readonly #clock: OutageClock;
  readonly #waiters: Waiters;
  #nextMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(clock: OutageClock) {
    this.#clock = clock;
    this.#waiters = new Waiters(clock.nowMs);
    this.sinceMs = clock.nowMs();
    this.lastMs = this.sinceMs;
    this.#nextMs = this.#pauseEndsMs();
  }

  get isWaitedFor(): boolean {
    return this.#waiters.count > 0;
  }

  /** Resolves when the request may ask; false at `untilMs`. Fails when it is given up. */
  async turn(untilMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    const now = this.#clock.nowMs();
    if (now >= this.#nextMs && !this.isWaitedFor) {
      this.#nextMs = this.#pauseEndsMs();
      return true;
    }
    if (now >= untilMs) return false;
    const turn = this.#waiters.wait(untilMs, signal);
    this.#schedule();
    return turn;
  }

  /** Something has changed: whoever is next asks now. */
  askNow(): void {
    this.#nextMs = this.#pauseEndsMs();
    this.#waiters.wakeOne();
  }

  /** The shard answers: all ask. */
  end(): void {
    clearTimeout(this.#timer);
    this.#waiters.wakeAll();
  }

  #schedule(): void {
    if (this.#timer !== undefined || !this.isWaitedFor) return;
    const ms = Math.max(0, this.#nextMs - this.#clock.nowMs());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      // Another one may have asked meanwhile.
      if (this.#clock.nowMs() >= this.#nextMs) this.askNow();
      this.#schedule();
    }, ms);
  }

  #pauseEndsMs(): number {
    return this.#clock.nowMs() + Math.round(PAUSE_MS * (1 + this.#clock.random() / 2));
  }
}
