import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";

/** A key pair of an issuer. */
export interface TestKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

type KeyKind = "rsa" | "rsa-1024" | "P-256" | "P-384" | "P-521" | "ed25519";

/** Makes a key pair; RSA ones have 2,048 bits unless the kind says otherwise. */
export function makeKey(id: string, kind: KeyKind = "P-256"): TestKey {
  if (kind === "ed25519") return { id, ...generateKeyPairSync("ed25519") };
  if (kind === "rsa") return { id, ...generateKeyPairSync("rsa", { modulusLength: 2048 }) };
  if (kind === "rsa-1024") return { id, ...generateKeyPairSync("rsa", { modulusLength: 1024 }) };
  return { id, ...generateKeyPairSync("ec", { namedCurve: kind }) };
}

/** The public half as it stands in a key set. */
export function publicJwk(key: TestKey, members: object = {}): Record<string, unknown> {
  return { ...key.publicKey.export({ format: "jwk" }), kid: key.id, use: "sig", ...members };
}

/** What stands where the signature belongs. */
type Signer = (input: string) => string;

/** Signs as RFC 7518 says; the algorithm decides, whether the key fits it or not. */
export function signWith(key: KeyObject, algorithm: string): Signer {
  const digest = `sha${algorithm.slice(2)}`;
  return (input) => {
    const data = Buffer.from(input);
    if (algorithm === "EdDSA") return sign(null, data, key).toString("base64url");
    if (algorithm.startsWith("ES")) return sign(digest, data, { key, dsaEncoding: "ieee-p1363" }).toString("base64url");
    if (algorithm.startsWith("RS")) return sign(digest, data, key).toString("base64url");
    // RSA_PKCS1_PSS_PADDING, with a salt as long as the digest.
    return sign(digest, data, { key, padding: 6, saltLength: -1 }).toString("base64url");
  };
}

/** The classic confusion: the public key, which everybody knows, taken for the secret of an HMAC. */
export function hmacWithPublicKey(key: TestKey, algorithm: "HS256" | "HS384" | "HS512"): Signer {
  const pem = createPublicKey(key.publicKey.export({ format: "pem", type: "spki" })).export({
    format: "pem",
    type: "spki",
  });
  return (input) =>
    createHmac(`sha${algorithm.slice(2)}`, pem)
      .update(input)
      .digest("base64url");
}

export const UNSIGNED: Signer = () => "";

/** A token out of whatever header and claims; text goes in as it is. */
export function forge(header: object | string, claims: object | string, signer: Signer): string {
  const part = (value: object | string): string =>
    Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${signer(input)}`;
}

/** A token as an issuer makes it, with the algorithm that fits the key unless another is named. */
export function issue(key: TestKey, claims: object, header: Readonly<Record<string, unknown>> = {}): string {
  const all = { alg: algorithmFor(key.publicKey), typ: "JWT", kid: key.id, ...header };
  return forge(all, claims, signWith(key.privateKey, String(all.alg)));
}

function algorithmFor(key: KeyObject): string {
  if (key.asymmetricKeyType === "ed25519") return "EdDSA";
  if (key.asymmetricKeyType === "rsa") return "RS256";
  const curve = key.asymmetricKeyDetails?.namedCurve;
  return curve === "secp521r1" ? "ES512" : curve === "secp384r1" ? "ES384" : "ES256";
}
