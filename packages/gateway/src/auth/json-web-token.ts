import { isNestedDeeper, ShoalError } from "@shoal/model";
import { JSON_DEPTH_MAX } from "../json/parse-json.js";

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
  if (parts === null) throw refusedToken("it is no JSON Web Token: that has three parts with dots between them");
  return { header: parsePart("header", parts[1] ?? ""), claims: parsePart("payload", parts[2] ?? "") };
}

/** What each token has, found at less cost than {@link isJsonWebToken}. */
export function hasThreeParts(text: string): boolean {
  const first = text.indexOf(".");
  const second = first === -1 ? -1 : text.indexOf(".", first + 1);
  return second !== -1 && text.indexOf(".", second + 1) === -1;
}

/** Whether a text has the form of a token: whatever is none may be a key. */
export function isJsonWebToken(text: string): boolean {
  try {
    parseJsonWebToken(text);
    return true;
  } catch {
    return false;
  }
}

/** A member of its own: names like `constructor` are nothing special. */
export function memberOf(members: JsonMembers, name: string): unknown {
  return Object.hasOwn(members, name) ? members[name] : undefined;
}

/** The error for a token that is no good. */
export function refusedToken(reason: string): ShoalError {
  return new ShoalError("unauthenticated", `the token is refused: ${reason}`);
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parsePart(part: string, encoded: string): JsonMembers {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(Buffer.from(encoded, "base64url")));
  } catch {
    throw refusedToken(`its ${part} is not JSON in base64url`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refusedToken(`its ${part} is not a JSON object`);
  }
  // Error texts quote what a stranger has sent: by then it must be something that can be written.
  if (isNestedDeeper(value, JSON_DEPTH_MAX))
    throw refusedToken(`its ${part} is nested deeper than ${JSON_DEPTH_MAX} levels`);
  return value as JsonMembers;
}
