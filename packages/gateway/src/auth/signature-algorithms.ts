import type { KeyObject } from "node:crypto";
import type { Algorithm } from "jsonwebtoken";

/**
 * The algorithms a token may be signed with, all of them asymmetric: with `none` anybody signs, with `HS256` anybody who
 * knows the public key does.
 */
export const SIGNATURE_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
] as const satisfies readonly Algorithm[];

export type SignatureAlgorithm = (typeof SIGNATURE_ALGORITHMS)[number];

/** Curves have one algorithm each (RFC 7518, 3.4). */
const CURVES: Readonly<Partial<Record<SignatureAlgorithm, string>>> = {
  ES256: "prime256v1",
  ES384: "secp384r1",
  ES512: "secp521r1",
};

/** RFC 7518, 3.3: smaller ones must not be used. Larger than the upper bound is none that issuers use, only slow. */
const RSA_BITS_MIN = 2_048;
const RSA_BITS_MAX = 8_192;

export function isSignatureAlgorithm(value: unknown): value is SignatureAlgorithm {
  return (SIGNATURE_ALGORITHMS as readonly unknown[]).includes(value);
}

/** The algorithms that a public key can be used with; none when it is too weak, or of another kind. */
export function algorithmsOf(key: KeyObject): readonly SignatureAlgorithm[] {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "rsa") {
    if (modulusLength < RSA_BITS_MIN || modulusLength > RSA_BITS_MAX) return [];
    return SIGNATURE_ALGORITHMS.filter((algorithm) => !algorithm.startsWith("ES"));
  }
  if (key.asymmetricKeyType !== "ec") return [];
  return SIGNATURE_ALGORITHMS.filter((algorithm) => CURVES[algorithm] === namedCurve);
}
