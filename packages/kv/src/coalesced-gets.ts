interface PendingGet {
  readonly key: Uint8Array;
  readonly resolve: (value: Uint8Array | undefined) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Single gets of one turn of the event loop, asked as one getMany: a call into the addon costs about as much as four
 * keys.
 */
export class CoalescedGets {
  private pending: PendingGet[] = [];
  private flushing: NodeJS.Immediate | undefined;

  constructor(
    private readonly getMany: (keys: readonly Uint8Array[]) => Promise<readonly (Uint8Array | undefined | Error)[]>,
  ) {}

  /** The key is not copied: the caller leaves it alone until the answer. */
  get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.pending.push({ key, resolve, reject });
      this.flushing ??= setImmediate(() => this.flush());
    });
  }

  /** Asks for what waits now. */
  flush(): void {
    const asked = this.pending;
    clearImmediate(this.flushing);
    this.flushing = undefined;
    if (asked.length === 0) return;
    this.pending = [];
    this.getMany(asked.map((one) => one.key)).then(
      (values) => {
        for (const [index, one] of asked.entries()) {
          const value = values[index];
          if (value instanceof Error) one.reject(value);
          else one.resolve(value);
        }
      },
      (error: unknown) => {
        for (const one of asked) one.reject(error);
      },
    );
  }
}
