import { InFlight } from "@shoal/runtime";
import type { RequestScope } from "./request-scope.js";

/** How often requests in flight are looked at: they are ended so much too late at most. */
const SWEEP_MS = 250;

/** Ends requests that take longer than they may. One timer serves all of them. */
export class Deadlines {
  readonly #inFlight = new InFlight<RequestScope>();
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
    scope.number = this.#inFlight.add(scope);
  }

  remove(scope: RequestScope): void {
    this.#inFlight.remove(scope.number);
    scope.number = 0;
  }

  /** Requests of an owner. */
  countOf(owner: string): number {
    let count = 0;
    for (const [, { share }] of this.#inFlight) if (share.owner === owner) count++;
    return count;
  }

  /** Ends all requests that are overdue now. */
  sweep(): void {
    if (this.#inFlight.size === 0) return;
    const now = this.#nowMs();
    for (const [, scope] of this.#inFlight) {
      if (scope.dueMs > now) continue;
      this.remove(scope);
      scope.expire();
    }
  }
}
