/** Requests that wait for something to change, first come first. */
export class Waiters {
  readonly #nowMs: () => number;
  readonly #waiting = new Set<(wasWoken: boolean) => void>();

  /** `nowMs`: milliseconds since 1970. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get count(): number {
    return this.#waiting.size;
  }

  /** Whether it was woken before `untilMs`; resolves then, or when it is. Fails when the request is given up. */
  async wait(untilMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    signal?.throwIfAborted();
    let wake = (_wasWoken: boolean): void => {};
    const changed = new Promise<boolean>((resolve) => {
      wake = resolve;
    });
    const giveUp = (): void => this.#wake(wake, false);
    const timer = setTimeout(giveUp, Math.max(0, untilMs - this.#nowMs()));
    this.#waiting.add(wake);
    signal?.addEventListener("abort", giveUp);
    const wasWoken = await changed;
    clearTimeout(timer);
    signal?.removeEventListener("abort", giveUp);
    signal?.throwIfAborted();
    return wasWoken;
  }

  wakeAll(): void {
    for (const wake of [...this.#waiting]) this.#wake(wake, true);
  }

  /** The one that has waited longest. */
  wakeOne(): void {
    const [wake] = this.#waiting;
    if (wake !== undefined) this.#wake(wake, true);
  }

  #wake(wake: (wasWoken: boolean) => void, wasWoken: boolean): void {
    this.#waiting.delete(wake);
    wake(wasWoken);
  }
}
