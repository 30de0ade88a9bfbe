import { hash, timingSafeEqual } from "node:crypto";
import { ShoalError } from "@shoal/model";
import type { AllowedApiKey } from "@shoal/service-runtime";
import type { Principal } from "./access.js";

/** Longer keys are refused before anything is done with them. */
export const API_KEY_BYTES_MAX = 4_096;

/** Where API keys are looked up: those of the settings, of a file, of users that were made at run time. */
export interface ApiKeySource {
  /**
   * Who holds the key of this digest (`digestOfKey`) now; undefined when nobody does. It is asked for each request,
   * so that a key that was withdrawn is refused from the next request on. Must compare in constant time, as
   * {@link ApiKeyTable} does, and must not keep the buffer: the next request's digest will stand in it.
   */
  find(digest: Buffer): Principal | undefined;
  /** Whether somebody of that name has a key here. */
  holds?(username: string): boolean;
}

/** A key and its holder; of the key only the digest is kept. */
export interface HeldApiKey {
  readonly digest: Buffer;
  readonly principal: Principal;
}

/** The part of a digest that finds the candidates; what its time reveals does not help to find a key. */
const PREFIX_BYTES = 8;

/** An unchanging set of keys. */
export class ApiKeyTable implements ApiKeySource {
  readonly #holders = new Map<string, HeldApiKey[]>();
  readonly #usernames = new Set<string>();

  constructor(keys: Iterable<HeldApiKey>) {
    for (const held of keys) {
      this.#usernames.add(held.principal.username);
      const prefix = prefixOf(held.digest);
      const others = this.#holders.get(prefix);
      if (others === undefined) this.#holders.set(prefix, [held]);
      else others.push(held);
    }
  }

  /** Keys of the settings or of a file. */
  static of(keys: readonly AllowedApiKey[]): ApiKeyTable {
    return new ApiKeyTable(
      keys.map(({ digest, username }) => ({ digest, principal: { username, groups: [], userType: "db" } })),
    );
  }

  holds(username: string): boolean {
    return this.#usernames.has(username);
  }

  find(digest: Buffer): Principal | undefined {
    const candidates = this.#holders.get(prefixOf(digest));
    return candidates?.find((one) => timingSafeEqual(one.digest, digest))?.principal;
  }
}

/** Turns an API key into who it speaks for. */
export class ApiKeyVerifier {
  /** Of the key that is looked at: a buffer for each would double what a check costs. */
  readonly #digest = Buffer.alloc(32);
  readonly #counts = { accepted: 0, refused: 0 };

  /** The first source that knows a key decides. */
  constructor(private readonly sources: readonly ApiKeySource[]) {}

  /** What became of the keys so far. */
  get counts(): Readonly<Record<"accepted" | "refused", number>> {
    return this.#counts;
  }

  /** Fails with `unauthenticated`. */
  verify(key: string): Principal {
    if (key.length <= API_KEY_BYTES_MAX) {
      this.#digest.write(hash("sha256", key, "binary"), "latin1");
      for (const source of this.sources) {
        const principal = source.find(this.#digest);
        if (principal === undefined) continue;
        this.#counts.accepted++;
        return principal;
      }
    }
    this.#counts.refused++;
    // The text is that of the reference (reference-today 1.6).
    throw new ShoalError("unauthenticated", "unauthorized: invalid api key");
  }
}

function prefixOf(digest: Buffer): string {
  return digest.toString("latin1", 0, PREFIX_BYTES);
}
