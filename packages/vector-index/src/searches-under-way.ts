import { InFlight } from "@shoal/runtime";

/**
 * A listener at a signal, and the signal itself, cost a tenth of a search: only those of searches that are met by a second
 * look are asked for.
 */
const LOOK_MS = 10;

/** The caller of a search. The signal may be made when it is asked for. */
export interface Waiting {
  readonly signal?: AbortSignal | undefined;
}

interface Search {
  readonly waiting: Waiting;
  /** Cancels it, and rejects what is waited for. */
  readonly giveUp: (reason: unknown) => void;
  wasLookedAt: boolean;
}

/** Lets those who wait for long searches give them up. */
export class SearchesUnderWay {
  readonly #searches = new InFlight<Search>();
  #timer: NodeJS.Timeout | undefined;

  /** As `result`. Soon after the signal has fired it calls `cancel` and rejects with the signal's reason. */
  wait<T>(result: Promise<T>, waiting: Waiting, cancel: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = (reason: unknown): void => {
        cancel();
        reject(reason);
      };
      const number = this.#searches.add({ waiting, giveUp, wasLookedAt: false });
      this.#timer ??= setInterval(() => this.#look(), LOOK_MS);
      result.then(
        (value) => {
          this.#searches.remove(number);
          resolve(value);
        },
        (error: unknown) => {
          this.#searches.remove(number);
          reject(error);
        },
      );
    });
  }

  #look(): void {
    for (const [number, search] of this.#searches) {
      const signal = search.wasLookedAt ? search.waiting.signal : undefined;
      search.wasLookedAt = true;
      if (signal?.aborted !== true) continue;
      this.#searches.remove(number);
      search.giveUp(signal.reason);
    }
    if (this.#searches.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
