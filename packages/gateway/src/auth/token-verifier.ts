import { hash } from "node:crypto";
import { ShoalError } from "@shoal/model";
import { eventLoop, Gate, type Share } from "@shoal/runtime";
import type { Clock, OidcConfiguration } from "@shoal/service-runtime";
import type { Principal } from "./access.js";
import { checkToken, expiryMs, NOT_BEFORE_TOLERANCE_SECONDS, principalOf, type TokenHeader } from "./check-claims.js";
import type { Issuer } from "./issuer.js";
import { type JsonWebToken, parseJsonWebToken, refusedToken } from "./json-web-token.js";
import type { KeySet, SigningKey } from "./key-set.js";
import type { VerifiedTokens } from "./verified-tokens.js";

/** Larger tokens are refused before anything is done with them. */
export const TOKEN_BYTES_MAX = 16 * 1024;

/** A token that names no key is tried with this many at most. */
const KEYS_TRIED_MAX = 4;

/** Tokens that wait for their signature to be checked, which takes 30 µs to 1.2 ms. */
const WAITING_FOR_CHECK_MAX = 1_000;

/** Tokens that wait for the issuer's keys to be read again. */
const WAITING_FOR_KEYS_MAX = 250;

export interface TokenVerifierParts {
  readonly oidc: OidcConfiguration;
  readonly issuer: Issuer;
  readonly verified: VerifiedTokens;
  readonly clock: Clock;
  /** Resolves when a signature may be checked. */
  readonly nextStep?: (share?: Share) => Promise<void>;
  readonly waitingForCheckMax?: number;
}

type Library = typeof import("jsonwebtoken");

/** A token whose signature is checked, and for whom. */
interface SignedToken {
  readonly token: string;
  readonly header: TokenHeader;
  readonly share: Share | undefined;
}

/** Turns a bearer token into who it speaks for. */
export class TokenVerifier {
  readonly #nextStep: (share?: Share) => Promise<void>;
  /** Where signatures are checked, one at a time: a flood of bad tokens costs its own requests time, not those of everybody else. */
  readonly #checks: Gate;
  /** Tokens that are looked at right now, by their digest: one that comes twice at once is verified once. */
  readonly #pending = new Map<string, Promise<Principal>>();
  readonly #counts = { cached: 0, verified: 0, refused: 0, unanswered: 0 };
  /**
   * Loaded where tokens are configured only, and at the start: a module that could not be loaded once, for want of files say, cannot be
   * until the process ends.
   */
  readonly #library: Promise<Library> = import("jsonwebtoken").then((module) => module.default);
  #waitingForKeys = 0;

  constructor(private readonly parts: TokenVerifierParts) {
    this.#nextStep = parts.nextStep ?? ((share) => eventLoop.next(share));
    const waitingMax = parts.waitingForCheckMax ?? WAITING_FOR_CHECK_MAX;
    const fullError = () => new ShoalError("overloaded", `more than ${waitingMax} tokens wait to be verified`);
    this.#checks = new Gate({ max: 1, waitingMax, fullError });
  }

  /** What became of the tokens so far; `unanswered` ones waited in vain for the issuer or their turn. */
  get counts(): Readonly<Record<"cached" | "verified" | "refused" | "unanswered", number>> {
    return this.#counts;
  }

  /**
   * Whom the token speaks for: at once when it was verified lately. Fails with `unauthenticated` when it is no good,
   * `unavailable` when the issuer's keys are not known, `overloaded` when too many wait. Steps are taken for `share`.
   */
  verify(token: string, share?: Share): Principal | Promise<Principal> {
    try {
      return this.#verify(token, share);
    } catch (refusal) {
      throw this.#counted(refusal);
    }
  }

  /** Whom the token speaks for when it was verified lately; undefined when that is not known. */
  recall(token: string): Principal | undefined {
    if (token.length > TOKEN_BYTES_MAX) return undefined;
    const known = this.parts.verified.find(digestOfToken(token), this.parts.clock.now());
    if (known !== undefined) this.#counts.cached++;
    return known;
  }

  #counted(refusal: unknown): unknown {
    if (ShoalError.from(refusal).code === "unauthenticated") this.#counts.refused++;
    else this.#counts.unanswered++;
    return refusal;
  }

  #verify(token: string, share: Share | undefined): Principal | Promise<Principal> {
    if (token.length > TOKEN_BYTES_MAX) {
      throw refusedToken(`it has ${token.length} bytes, at most ${TOKEN_BYTES_MAX} are taken`);
    }
    const digest = digestOfToken(token);
    const known = this.parts.verified.find(digest, this.parts.clock.now());
    if (known !== undefined) {
      this.#counts.cached++;
      return known;
    }
    return this.#pending.get(digest) ?? this.#begin(token, digest, share);
  }

  #begin(token: string, digest: string, share: Share | undefined): Promise<Principal> {
    if (this.parts.issuer.keys === undefined) throw this.#issuerUnavailable();
    const jwt = parseJsonWebToken(token);
    const header = checkToken(jwt, this.parts.oidc, this.parts.clock.now());
    const examined = this.#examine({ token, header, share }, jwt, digest)
      .catch((refusal: unknown) => {
        throw this.#counted(refusal);
      })
      .finally(() => this.#pending.delete(digest));
    this.#pending.set(digest, examined);
    return examined;
  }

  async #examine(signed: SignedToken, jwt: JsonWebToken, digest: string): Promise<Principal> {
    const before = this.parts.issuer.keys;
    const isSigned = await this.#isSignedBy(before, signed);
    const keys = isSigned ? before : await this.#newKeysThatSigned(before, signed);
    if (keys === undefined) throw refusedToken(BAD_SIGNATURE);
    const principal = principalOf(jwt.claims, this.parts.oidc);
    const [now, expiry] = [this.parts.clock.now(), expiryMs(jwt.claims)];
    // Keys that were read while this token waited may have lost the one that has signed it.
    if (now < expiry && keys === this.parts.issuer.keys) this.parts.verified.add(digest, principal, expiry, now);
    this.#counts.verified++;
    return principal;
  }

  /** The keys with one among them that was not known before and has signed the token: keys are rotated at any time. */
  async #newKeysThatSigned(before: KeySet | undefined, signed: SignedToken): Promise<KeySet | undefined> {
    const { header } = signed;
    const namesKnownKey = header.keyId !== undefined && before?.keys.some(({ id }) => id === header.keyId);
    if (namesKnownKey === true) return undefined;
    if (this.#waitingForKeys >= WAITING_FOR_KEYS_MAX) throw this.#issuerUnavailable();
    this.#waitingForKeys++;
    try {
      await this.parts.issuer.lookAgain();
    } finally {
      this.#waitingForKeys--;
    }
    const keys = this.parts.issuer.keys;
    if (keys !== before && (await this.#isSignedBy(keys, signed))) return keys;
    // Perhaps the issuer has that key, but nobody can ask it.
    if (header.keyId !== undefined && !this.parts.issuer.isResponding) throw this.#issuerUnavailable();
    return undefined;
  }

  async #isSignedBy(keys: KeySet | undefined, { token, header, share }: SignedToken): Promise<boolean> {
    const candidates = keys?.candidates(header.algorithm, header.keyId) ?? [];
    for (const candidate of candidates.slice(0, KEYS_TRIED_MAX)) {
      const isSigned = await this.#checks.run(1, { share }, async () => {
        const library = await this.#library;
        await this.#nextStep(share);
        return this.#hasSignatureOf(library, candidate, token, header);
      });
      if (isSigned) return true;
    }
    return false;
  }

  /** The library checks again what was checked before: a fault in one of the two is then no open door. */
  #hasSignatureOf(library: Library, { key }: SigningKey, token: string, header: TokenHeader): boolean {
    const { issuer, clientId, skipClientIdCheck } = this.parts.oidc;
    try {
      library.verify(token, key, {
        algorithms: [header.algorithm],
        issuer,
        ...(skipClientIdCheck || clientId === undefined ? {} : { audience: clientId }),
        clockTimestamp: this.parts.clock.now() / 1000,
        clockTolerance: NOT_BEFORE_TOLERANCE_SECONDS,
      });
      return true;
    } catch {
      return false;
    }
  }

  #issuerUnavailable(): ShoalError {
    return new ShoalError(
      "unavailable",
      `the issuer ${this.parts.oidc.issuer} could not be asked for the keys that tokens are verified with`,
      { retryAfterSeconds: this.parts.issuer.retryAfterSeconds },
    );
  }
}

function digestOfToken(token: string): string {
  return hash("sha256", token, "base64");
}

const BAD_SIGNATURE = "no key of the issuer has signed it";
