import type { Principal } from "./access.js";

/** How long a token is believed without being looked at again. */
export const VERIFIED_MS_MAX = 60_000;
const VERIFIED_TOKENS_MAX = 8_192;

interface VerifiedToken {
  readonly principal: Principal;
  readonly verifiedMs: number;
  readonly untilMs: number;
}

/** The tokens that were verified lately, by their digest: tokens themselves are not kept. Times are of the wall clock. */
export class VerifiedTokens {
  /** In the order of their verification, and so nearly in that of their end. */
  readonly #tokens = new Map<string, VerifiedToken>();
  readonly #tokensMax: number;

  constructor(tokensMax = VERIFIED_TOKENS_MAX) {
    this.#tokensMax = tokensMax;
  }

  get size(): number {
    return this.#tokens.size;
  }

  find(digest: string, nowMs: number): Principal | undefined {
    const token = this.#tokens.get(digest);
    if (token === undefined) return undefined;
    // A clock that was set back would make a verification last longer than it may.
    if (nowMs < token.untilMs && nowMs >= token.verifiedMs) return token.principal;
    this.#tokens.delete(digest);
    return undefined;
  }

  add(digest: string, principal: Principal, expiryMs: number, nowMs: number): void {
    for (const [oldest, { untilMs }] of this.#tokens) {
      if (untilMs > nowMs && this.#tokens.size < this.#tokensMax) break;
      this.#tokens.delete(oldest);
    }
    this.#tokens.set(digest, { principal, verifiedMs: nowMs, untilMs: Math.min(expiryMs, nowMs + VERIFIED_MS_MAX) });
  }

  clear(): void {
    this.#tokens.clear();
  }
}
