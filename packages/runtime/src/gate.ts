import { FairQueue } from "./fair-queue.js";
import { NOBODY, type Share, type WorkBounds } from "./request-context.js";

export interface GateOptions {
  /** What all that have begun may reach together. A single one may reach more: it goes alone. */
  readonly max: number;
  /** How many may wait; any number when absent. */
  readonly waitingMax?: number;
  /**
   * Whether more than `waitingMax` may wait that are all of one connection: of one request that has many parts. It would be refused
   * for ever else, also where it is alone. Its last ones give way as soon as others come.
   */
  readonly mayWaitAlone?: boolean;
  /** What those are refused with for whom there is no room to wait. */
  readonly fullError?: () => Error;
}

interface Waiting {
  readonly share: Share;
  readonly amount: number;
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Lets work begin while all of it together reaches no more than a maximum; the rest waits, and begins in equal parts by share.
 * When too many wait, whoever has most waiting gives way to others.
 */
export class Gate {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #mayWaitAlone: boolean;
  readonly #fullError: () => Error;
  readonly #waiting = new FairQueue<Waiting>();
  #begun = 0;

  constructor(options: GateOptions) {
    const { max, waitingMax = Number.POSITIVE_INFINITY, mayWaitAlone = false, fullError = tooManyWait } = options;
    this.#max = max;
    this.#waitingMax = waitingMax;
    this.#mayWaitAlone = mayWaitAlone;
    this.#fullError = fullError;
  }

  /** What the work that has begun reaches. */
  get begun(): number {
    return this.#begun;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Whether work that reaches so much would have to wait now. */
  mustWait(amount: number): boolean {
    return this.#waiting.size > 0 || !this.#fits(amount);
  }

  /**
   * Work that reaches `amount`, in the unit of `max`, at once when it need not wait. Fails as {@link GateOptions.fullError} says
   * when too many wait, and with the signal's reason when it fires before. The bounds are asked by what waits only: asking a
   * context for its signal makes it.
   */
  async run<Result>(amount: number, bounds: WorkBounds, work: () => Promise<Result>): Promise<Result> {
    if (this.mustWait(amount)) await this.#turn(amount, bounds);
    else this.#begun += amount;
    try {
      return await work();
    } finally {
      this.#begun -= amount;
      this.#beginNext();
    }
  }

  #fits(amount: number): boolean {
    return this.#begun === 0 || this.#begun + amount <= this.#max;
  }

  /** Resolves when the work has been counted as begun. */
  async #turn(amount: number, { share = NOBODY, signal }: WorkBounds): Promise<void> {
    signal?.throwIfAborted();
    this.#makeRoomToWait(share);
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

  #makeRoomToWait(share: Share): void {
    while (this.#waiting.size >= this.#waitingMax) {
      const displaced = this.#waiting.displace(share);
      displaced?.refuse(this.#fullError());
      if (displaced !== undefined) continue;
      if (this.#mayWaitAlone && share !== NOBODY && this.#waiting.isOnlyOf(share)) return;
      throw this.#fullError();
    }
  }

  #beginNext(): void {
    for (let next = this.#waiting.peek(); next !== undefined && this.#fits(next.amount); next = this.#waiting.peek()) {
      this.#waiting.take();
      next.begin();
    }
  }
}

function tooManyWait(): Error {
  return new RangeError("too many wait");
}
