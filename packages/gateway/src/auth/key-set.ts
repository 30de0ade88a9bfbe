import { createPublicKey, type KeyObject } from "node:crypto";
import { ShoalError } from "@shoal/model";
import { algorithmsOf, isSignatureAlgorithm, type SignatureAlgorithm } from "./signature-algorithms.js";

/** Keys of an issuer that are looked at; the rest is ignored. */
const KEYS_MAX = 64;

/** One public key of an issuer. */
export interface SigningKey {
  readonly id: string | undefined;
  readonly key: KeyObject;
  readonly algorithms: readonly SignatureAlgorithm[];
  /** Tells this key from every other, also from a later one of the same id. */
  readonly fingerprint: string;
}

/** The keys that an issuer signs tokens with, as it published them at one moment. */
export class KeySet {
  constructor(readonly keys: readonly SigningKey[]) {}

  /** The keys that a token with this header may have been signed with. */
  candidates(algorithm: SignatureAlgorithm, keyId: string | undefined): readonly SigningKey[] {
    return this.keys.filter((one) => (keyId === undefined || one.id === keyId) && one.algorithms.includes(algorithm));
  }

  /** Whether some key of this set is no longer in `next`. */
  hasKeyMissingIn(next: KeySet): boolean {
    const published = new Set(next.keys.map(({ fingerprint }) => fingerprint));
    return this.keys.some(({ fingerprint }) => !published.has(fingerprint));
  }
}

/**
 * The usable keys of a JWKS document (RFC 7517). Keys for encryption, private and symmetric keys, keys that cannot be
 * read and weak ones are left out: a set may be empty. Fails when the document is no key set at all.
 */
export async function readKeySet(document: unknown): Promise<KeySet> {
  const listed = (document as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(listed)) throw new ShoalError("unavailable", "it has no list 'keys'");
  const keys = listed.slice(0, KEYS_MAX).filter(mayVerify);
  // An empty set is a response here (all keys withdrawn), to the library a failure.
  if (keys.length === 0) return new KeySet([]);
  const { default: library } = await import("jwks-rsa");
  const client = new library.JwksClient({ cache: false, rateLimit: false, fetcher: () => Promise.resolve({ keys }) });
  const published = await client.getSigningKeys().catch(() => []);
  return new KeySet(published.flatMap((one) => signingKey(one.kid, one.alg, one.getPublicKey())));
}

function mayVerify(jwk: unknown): boolean {
  if (typeof jwk !== "object" || jwk === null) return false;
  const operations = (jwk as { key_ops?: unknown }).key_ops;
  return !Array.isArray(operations) || operations.includes("verify");
}

function signingKey(id: string | undefined, algorithm: string | undefined, pem: string): readonly SigningKey[] {
  const key = createPublicKey(pem);
  const possible = algorithmsOf(key);
  const algorithms = algorithm === undefined ? possible : possible.filter((one) => one === algorithm);
  if (algorithms.length === 0 || (algorithm !== undefined && !isSignatureAlgorithm(algorithm))) return [];
  return [{ id, key, algorithms, fingerprint: JSON.stringify([id ?? null, algorithms, pem]) }];
}
