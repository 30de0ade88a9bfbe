import { FairQueue } from "./fair-queue.js";
import { NOBODY, type Share } from "./share.js";

export interface GateOptions {
  /** What all that have begun may reach together. A single one may reach more: it goes alone. */
  readonly max: number;
  /** How many may wait. */
  readonly waitingMax: number;
  /** What those are refused with for whom there is no room to wait. */
  readonly fullError: () => Error;
}

interface Waiting {
  readonly share: Share;
  readonly amount: number;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/** Work that waits to begin. */
export interface GateRequest {
  /** What it reaches, in the unit of `max`. */
  readonly amount: number;
  readonly share?: Share | undefined;
  /** Ends the waiting. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lets work begin while all of it together reaches no more than a most; the rest waits, and begins in equal parts by share.
 * When too many wait, whoever has most waiting gives way to others.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #waiting = new FairQueue<Waiting>();
  #begun = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** What the work that has begun reaches. */
  get begun(): number {
    return this.#begun;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Fails as {@link GateOptions.fullError} says when too many wait, and with the signal's reason when it fires before. */
  async run<Result>(request: GateRequest, work: () => Promise<Result>): Promise<Result> {
    const { amount } = request;
    if (this.#waiting.size > 0 || !this.#fits(amount)) await this.#turn(request);
    else this.#begun += amount;
    try {
      return await work();
    } finally {
      this.#begun -= amount;
      this.#beginNext();
    }
  }

  #fits(amount: number): boolean {
    return this.#begun === 0 || this.#begun + amount <= this.#options.max;
  }

  /** Resolves when the work has been counted as begun. */
  async #turn({ amount, share = NOBODY, signal }: GateRequest): Promise<void> {
    signal?.throwIfAborted();
    if (this.#waiting.size >= this.#options.waitingMax) {
      const displaced = this.#waiting.displace(share);
      if (displaced === undefined) throw this.#options.fullError();
      displaced.refuse(this.#options.fullError());
    }
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.remove(share, waiting);
        reject(signal?.reason);
        this.#beginNext();
      };
      const waiting: Waiting = {
        share,
        amount,
        begin: () => {
          signal?.removeEventListener("abort", onAbort);
          this.#begun += amount;
          resolve();
        },
        refuse: (error) => {
          signal?.removeEventListener("abort", onAbort);
          reject(error);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.add(share, waiting, amount);
    });
  }

  #beginNext(): void {
    for (let next = this.#waiting.peek(); next !== undefined && this.#fits(next.amount); next = this.#waiting.peek()) {
      this.#waiting.take();
      next.begin();
    }
  }
}
