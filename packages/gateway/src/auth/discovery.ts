import { ShoalError } from "@shoal/model";
import { type JsonMembers, memberOf } from "./json-web-token.js";

/** What an issuer publishes of itself (OpenID Connect Discovery 1.0, section 3). */
export interface DiscoveryDocument {
  readonly members: JsonMembers;
  readonly keysUrl: string;
}

/** Where an issuer publishes it: a slash at the issuer's end is dropped (Discovery 1.0, section 4). */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}

/** Fails when the document is not that of `issuer`, or its keys could be changed on their way. */
export function parseDiscovery(document: unknown, issuer: string): DiscoveryDocument {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new ShoalError("unavailable", "it is not a JSON object");
  }
  const members = document as JsonMembers;
  const named = memberOf(members, "issuer");
  if (named !== issuer) {
    throw new ShoalError(
      "unavailable",
      `its issuer is ${JSON.stringify(named)?.slice(0, 200)}, expected exactly ${JSON.stringify(issuer)}`,
    );
  }
  const keysUrl = memberOf(members, "jwks_uri");
  if (typeof keysUrl !== "string" || !URL.canParse(keysUrl)) {
    throw new ShoalError("unavailable", "its jwks_uri is not a URL");
  }
  const { protocol } = new URL(keysUrl);
  const isAllowed = protocol === "https:" || (protocol === "http:" && new URL(issuer).protocol === "http:");
  if (!isAllowed) {
    throw new ShoalError("unavailable", `its jwks_uri ${keysUrl.slice(0, 200)} must have the issuer's scheme or https`);
  }
  return { members, keysUrl };
}
