import { silentLogger } from "@shoal/service-runtime";
import { bench, describe } from "vitest";
import { issue, makeKey } from "../testing/forged-tokens.js";
import { StubIssuer } from "../testing/stub-issuer.js";
import { createAccessControl } from "./create-access-control.js";

// What a token costs: one that was verified lately, a new one, and bad ones, as in a flood.
const stub = new StubIssuer();
const keys = { RS256: makeKey("rsa", "rsa"), ES256: makeKey("ec", "P-256"), ES384: makeKey("p384", "P-384") };
const strangers = { RS256: makeKey("rsa", "rsa"), ES256: makeKey("ec", "P-256"), ES384: makeKey("p384", "P-384") };
stub.publish(...Object.values(keys));
const oidc = {
  issuer: stub.url,
  clientId: "cid",
  skipClientIdCheck: false,
  usernameClaim: "email",
  groupsClaim: "groups",
  scopes: [],
  keysUrl: undefined,
};
const access = createAccessControl(
  {
    authentication: { anonymousAccess: false, apiKeys: undefined, oidc },
    authorization: { users: ["a@example.com"], readOnlyUsers: [], groups: [], readOnlyGroups: [] },
  },
  { clock: { now: () => Date.now() }, logger: silentLogger, read: stub.read },
);
const exp = Math.floor(Date.now() / 1000) + 3_600;
const claims = {
  iss: stub.url,
  aud: "cid",
  exp,
  email: "a@example.com",
  email_verified: true,
  groups: ["one", "two"],
  scope: "profile email",
};
const identify = (token: string) => access.identify({ authorization: `Bearer ${token}`, queryString: "" });

/** Distinct tokens, in turn. */
function rotating(make: (index: number) => string): () => string {
  const tokens = Array.from({ length: 10_000 }, (_, index) => make(index));
  let next = 0;
  return () => tokens[next++ % tokens.length] ?? "";
}

const refused = (thrown: unknown): void => {
  if ((thrown as { code?: unknown }).code !== "unauthenticated") throw thrown;
};

/** Refused at once or later. */
async function refuse(token: string): Promise<void> {
  try {
    await identify(token);
  } catch (thrown) {
    refused(thrown);
    return;
  }
  throw new Error("accepted");
}

await new Promise((resolve) => setTimeout(resolve, 50));

describe("a token", () => {
  const known = issue(keys.RS256, claims);
  bench("verified lately", () => void identify(known), { setup: async () => void (await identify(known)) });
  const malformed = rotating((index) => `a.b.c${index}`);
  bench("malformed", () => refuse(malformed()));
  const expired = rotating((index) => issue(strangers.ES256, { ...claims, index, exp: 1 }));
  bench("expired", () => refuse(expired()));
  for (const algorithm of ["RS256", "ES256", "ES384"] as const) {
    // More than are remembered.
    const fresh = rotating((index) => issue(keys[algorithm], { ...claims, index }));
    bench(`new, ${algorithm}`, async () => void (await identify(fresh())));
    const bad = rotating((index) => issue(strangers[algorithm], { ...claims, index }));
    bench(`bad signature, ${algorithm}`, () => refuse(bad()));
  }
});
