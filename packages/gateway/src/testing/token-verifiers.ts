import type { Share } from "@shoal/runtime";
import { silentLogger } from "@shoal/service-runtime";
import type { Principal } from "../auth/access.js";
import { Issuer } from "../auth/issuer.js";
import { TokenVerifier, type TokenVerifierParts } from "../auth/token-verifier.js";
import { VerifiedTokens } from "../auth/verified-tokens.js";
import type { TestKey } from "./forged-tokens.js";
import { StubIssuer } from "./stub-issuer.js";

export const NOW_MS = 1_790_000_000_000;
export const NOW = NOW_MS / 1000;
export const BAD_SIGNATURE = "the token is refused: no key of the issuer has signed it";

type Checks = Pick<TokenVerifierParts, "nextStep" | "waitingForCheckMax">;

/** A verifier whose issuer has not been read; nothing of it outlives the test but timers that hold nobody. */
export function verifierOf(keys: readonly TestKey[], checks: Checks = {}) {
  const stub = new StubIssuer();
  stub.publish(...keys);
  const clock = { nowMs: NOW_MS, now: () => clock.nowMs };
  const verified = new VerifiedTokens();
  const issuer = new Issuer(stub.url, {
    clock,
    logger: silentLogger,
    read: stub.read,
    onKeysWithdrawn: () => verified.clear(),
  });
  const oidc = {
    issuer: stub.url,
    clientId: "cid",
    skipClientIdCheck: false,
    usernameClaim: "sub",
    groupsClaim: "groups",
    scopes: [],
    keysUrl: undefined,
  };
  const verifier = new TokenVerifier({ oidc, issuer, verified, clock, ...checks });
  const claims = { iss: stub.url, aud: "cid", exp: NOW + 3_600, sub: "alice", groups: ["g"] };
  return { stub, clock, verified, issuer, verifier, claims };
}

/** With the keys read. */
export async function readyVerifierOf(keys: readonly TestKey[], checks: Checks = {}) {
  const all = verifierOf(keys, checks);
  all.issuer.start();
  await all.issuer.lookAgain();
  return all;
}

/** Throws what `verify` throws or rejects with. */
export async function verdict(verifier: TokenVerifier, token: string, share?: Share): Promise<Principal> {
  return await verifier.verify(token, share);
}
