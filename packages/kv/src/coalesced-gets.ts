type Results = readonly (Uint8Array | undefined | Error)[];

interface PendingGet {
  readonly keys: readonly Uint8Array[];
  readonly resolve: (values: Results) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * The gets of one iteration of the event loop, asked as one: a call into the addon costs about as much as six keys, most of
 * it for waking threads.
 */
export class CoalescedGets {
  #pending: PendingGet[] = [];
  #flushing: NodeJS.Immediate | undefined;
  readonly #getMany: (keys: readonly Uint8Array[]) => Promise<Results>;

  constructor(getMany: (keys: readonly Uint8Array[]) => Promise<Results>) {
    this.#getMany = getMany;
  }

  /** The keys are not copied: the caller leaves them alone until the result. */
  get(keys: readonly Uint8Array[]): Promise<Results> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ keys, resolve, reject });
      this.#flushing ??= setImmediate(() => this.flush());
    });
  }

  /** Asks for what waits now. */
  flush(): void {
    const asked = this.#pending;
    clearImmediate(this.#flushing);
    this.#flushing = undefined;
    if (asked.length === 0) return;
    this.#pending = [];
    const [only] = asked;
    const keys = only !== undefined && asked.length === 1 ? only.keys : asked.flatMap((one) => one.keys);
    this.#getMany(keys).then(
      (values) => {
        let at = 0;
        for (const one of asked) {
          one.resolve(asked.length === 1 ? values : values.slice(at, at + one.keys.length));
          at += one.keys.length;
        }
      },
      (error: unknown) => {
        for (const one of asked) one.reject(error);
      },
    );
  }
}
