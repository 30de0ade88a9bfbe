import { createHmac, sign } from "node:crypto";
import type { IssuerKey } from "./oidc-issuer.js";

type Members = Readonly<Record<string, unknown>>;

/** What stands where a signature belongs. */
export type Signature = (input: string) => string;

export const rs256 =
  ({ privateKey }: IssuerKey): Signature =>
  (input) =>
    sign("sha256", Buffer.from(input), privateKey).toString("base64url");

/** The classic confusion: the public key, which everybody knows, as the secret of an HMAC. */
export const hs256 =
  ({ publicKey }: IssuerKey): Signature =>
  (input) =>
    createHmac("sha256", publicKey.export({ format: "pem", type: "spki" }))
      .update(input)
      .digest("base64url");

export const unsigned: Signature = () => "";

/** A token of whatever header and claims. */
export function forgeToken(header: Members, claims: Members, signature: Signature): string {
  const part = (members: Members): string => Buffer.from(JSON.stringify(members)).toString("base64url");
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${signature(input)}`;
}

/** Header and claims of a token, unverified. */
export function readToken(token: string): { readonly header: Members; readonly claims: Members } {
  const [header = "", claims = ""] = token.split(".");
  const parse = (part: string): Members => JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  return { header: parse(header), claims: parse(claims) };
}
