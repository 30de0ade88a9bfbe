import type { Principal } from "./access.js";

/** How long a token is believed without being looked at again. */
export const VERIFIED_MS_MAX = 60_000;
const VERIFIED_TOKENS_MAX = 8_192;
/** Characters of all their names and groups: those of a token may be nearly as long as it. */
const NAMES_CHARS_MAX = 8 * 1024 * 1024;

interface VerifiedToken {
  readonly principal: Principal;
  readonly verifiedMs: number;
  readonly untilMs: number;
}

/** The tokens that were verified lately, by their digest: tokens themselves are not kept. Times are of the wall clock. */
export class VerifiedTokens {
  /** In the order of their verification, and so nearly in that of their end. */
  readonly #tokens = new Map<string, VerifiedToken>();
  #chars = 0;

  constructor(
    private readonly tokensMax = VERIFIED_TOKENS_MAX,
    private readonly charsMax = NAMES_CHARS_MAX,
  ) {}

  get size(): number {
    return this.#tokens.size;
  }

  find(digest: string, nowMs: number): Principal | undefined {
    const token = this.#tokens.get(digest);
    if (token === undefined) return undefined;
    // A clock that was set back would make a verification last longer than it may.
    if (nowMs < token.untilMs && nowMs >= token.verifiedMs) return token.principal;
    this.#delete(digest);
    return undefined;
  }

  add(digest: string, principal: Principal, expiryMs: number, nowMs: number): void {
    this.#delete(digest);
    const chars = namesChars(principal);
    for (const [oldest, { untilMs }] of this.#tokens) {
      const hasRoom = this.#tokens.size < this.tokensMax && this.#chars + chars <= this.charsMax;
      if (untilMs > nowMs && hasRoom) break;
      this.#delete(oldest);
    }
    this.#chars += chars;
    this.#tokens.set(digest, { principal, verifiedMs: nowMs, untilMs: Math.min(expiryMs, nowMs + VERIFIED_MS_MAX) });
  }

  clear(): void {
    this.#tokens.clear();
    this.#chars = 0;
  }

  #delete(digest: string): void {
    const token = this.#tokens.get(digest);
    if (token === undefined) return;
    this.#tokens.delete(digest);
    this.#chars -= namesChars(token.principal);
  }
}

/** What the names of somebody take, in characters. */
function namesChars({ username, groups }: Principal): number {
  return groups.reduce((chars, group) => chars + group.length, username.length);
}
