import type { RequestScope } from "./request-scope.js";

/** How often requests in flight are looked at: they are ended so much too late at most. */
const SWEEP_MS = 250;

/** Ends requests that take longer than they may. One timer serves all of them. */
export class Deadlines {
  readonly #inFlight = new Set<RequestScope>();
  readonly #nowMs: () => number;
  #timer: NodeJS.Timeout | undefined;

  /** `nowMs` must be monotonic: what the scopes' `dueMs` are made of. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  add(scope: RequestScope): void {
    this.#inFlight.add(scope);
  }

  delete(scope: RequestScope): void {
    this.#inFlight.delete(scope);
  }

  /** Ends all requests that are overdue now. */
  sweep(): void {
    if (this.#inFlight.size === 0) return;
    const now = this.#nowMs();
    for (const scope of this.#inFlight) {
      if (scope.dueMs > now) continue;
      this.#inFlight.delete(scope);
      scope.expire();
    }
  }
}
