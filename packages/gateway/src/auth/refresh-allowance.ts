import type { Clock } from "@shoal/service-runtime";

/** Readings that may follow each other at once, as when an issuer changes its keys twice. */
const ALLOWED_AT_ONCE = 3;
/** Time after which one more is allowed: what an issuer notices of a flood of invented key ids. */
const ALLOWED_EVERY_MS = 10_000;

/** How often the keys of an issuer may be read because a stranger's token asks for it. */
export class RefreshAllowance {
  #left = ALLOWED_AT_ONCE;
  #countedMs: number;

  constructor(private readonly clock: Clock) {
    this.#countedMs = clock.now();
  }

  /** Whether one is allowed now; it then counts as done. */
  take(): boolean {
    const now = this.clock.now();
    const earned = Math.floor((now - this.#countedMs) / ALLOWED_EVERY_MS);
    if (earned < 0) this.#countedMs = now;
    if (earned > 0) {
      this.#left = Math.min(ALLOWED_AT_ONCE, this.#left + earned);
      this.#countedMs += earned * ALLOWED_EVERY_MS;
    }
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }
}
