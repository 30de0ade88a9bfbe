import { ShoalError } from "@shoal/model";

/** A JSON object as it was parsed: nothing about its members is known. */
export type JsonMembers = Readonly<Record<string, unknown>>;

/** What a token says, before anybody has vouched for it. */
export interface JsonWebToken {
  readonly header: JsonMembers;
  readonly claims: JsonMembers;
}

/** Three parts of base64url (RFC 7515, 7.1); the signature may be missing, which later checks refuse. */
const COMPACT = /^([\w-]+)\.([\w-]+)\.[\w-]*$/;

/** Takes a token apart; nothing is verified. Fails with `unauthenticated`. */
export function parseJsonWebToken(token: string): JsonWebToken {
  const parts = COMPACT.exec(token);
  if (parts === null) throw refusedToken("malformed jwt: square/go-jose: compact JWS format must have three parts");
  return { header: parsePart("header", parts[1] ?? ""), claims: parsePart("payload", parts[2] ?? "") };
}

/** A member of its own: names like `constructor` are nothing special. */
export function memberOf(members: JsonMembers, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** The error for a token that is no good; `oidc:` is the reference's prefix (reference-rest 7.3). */
export function refusedToken(reason: string): ShoalError {
  return new ShoalError("unauthenticated", `oidc: ${reason}`);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parsePart(part: string, encoded: string): JsonMembers {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(Buffer.from(encoded, "base64url")));
  } catch {
    throw refusedToken(`malformed jwt: its ${part} is not JSON in base64url`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refusedToken(`malformed jwt: its ${part} is not a JSON object`);
  }
  return value as JsonMembers;
}
