import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf } from "../http-client.js";
import { forgeToken, hs256, readToken, rs256, type Signature, unsigned } from "../testing/forged-token.js";
import { ACCOUNTS, GuardedServer } from "../testing/guarded-server.js";
import { CLIENT_ID, type IssuerKey, makeIssuerKey } from "../testing/oidc-issuer.js";

type Members = Readonly<Record<string, unknown>>;

const key = makeIssuerKey("first");
const stranger: IssuerKey = makeIssuerKey("first");
const BAD_SIGNATURE = "the token is refused: no key of the issuer has signed it";
let guarded: GuardedServer;
/** Where forged tokens say that their keys can be found; it must never be asked. */
let trapUrl = "";
let trapped = 0;
const trap = createServer((_, response) => {
  trapped++;
  const jwk = { ...stranger.publicKey.export({ format: "jwk" }), kid: "first", use: "sig", alg: "RS256" };
  response.end(JSON.stringify({ keys: [jwk] }));
});
/** What a real token of alice's says. */
let real: { readonly header: Members; readonly claims: Members };

beforeAll(async () => {
  await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve));
  trapUrl = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
  guarded = await GuardedServer.start(key, { REQUEST_HEADER_BYTES_MAX: "1048576" });
  real = readToken((await guarded.issuer.login("alice", ACCOUNTS.alice.password)).access_token);
});
afterAll(async () => {
  await guarded[Symbol.asyncDispose]();
  trap.closeAllConnections();
  await new Promise<void>((resolve) => trap.close(() => resolve()));
});

const now = (): number => Math.floor(Date.now() / 1000);

/** A real token with something else in it. */
const altered = (claims: Members, header: Members = {}, signature: Signature = rs256(key)): string =>
  forgeToken({ ...real.header, ...header }, { ...real.claims, exp: now() + 60, ...claims }, signature);

async function refusal(token: string): Promise<unknown> {
  const answer = await guarded.server.http.get("/v1/objects", { Authorization: `Bearer ${token}` });
  if (answer.status !== 401) return `${answer.status} ${answer.text}`;
  expect(answer.headers.get("www-authenticate")).toContain('error="invalid_token"');
  // The same by way of the query, where a token may not be taken more lightly.
  if (token.length < 10_000)
    expect((await guarded.server.http.get(`/v1/objects?access_token=${token}`)).status).toBe(401);
  return errorOf(answer);
}

describe("forged tokens (S5)", () => {
  it("are made of one that is good", async () => {
    const { http } = guarded.server;
    expect((await http.get("/v1/objects", { Authorization: `Bearer ${altered({})}` })).status).toBe(200);
    const many = altered({ aud: ["other", CLIENT_ID] }, { typ: "JWT" });
    expect((await http.get("/v1/objects", { Authorization: `Bearer ${many}` })).status).toBe(200);
  });

  // covers: rest/7.3/algorithm
  it("without a signature, or with a secret that everybody knows, are refused", async () => {
    for (const alg of ["none", "None", "NONE", ""]) {
      expect(await refusal(altered({}, { alg }, unsigned))).toContain("it is signed with");
    }
    expect(await refusal(altered({}, { alg: "HS256" }, hs256(key)))).toContain(
      "it is signed with \"HS256\" (header 'alg'), this server takes RS256, ",
    );
    expect(await refusal(altered({}, {}, hs256(key)))).toBe(BAD_SIGNATURE);
    expect(await refusal(altered({}, {}, unsigned))).toBe(BAD_SIGNATURE);
  });

  // covers: rest/7.3/signature
  it("of another key are refused, whatever key they name or bring along, and nobody is asked for it", async () => {
    const jwk = { ...stranger.publicKey.export({ format: "jwk" }), kid: "first" };
    const bait = {
      jku: `${trapUrl}/jwks`,
      x5u: `${trapUrl}/certificate`,
      jwk,
      x5c: [stranger.publicKey.export({ format: "der", type: "spki" }).toString("base64")],
    };
    for (const kid of ["first", "unknown", undefined, "", `${trapUrl}/jwks`]) {
      expect(await refusal(altered({}, { kid }, rs256(stranger)))).toBe(BAD_SIGNATURE);
      expect(await refusal(altered({}, { kid, ...bait }, rs256(stranger)))).toBe(BAD_SIGNATURE);
    }
    expect(await refusal(altered({ iss: trapUrl }, bait, rs256(stranger)))).toContain("it is of issuer");
    expect(trapped).toBe(0);
  });

  // covers: rest/7.3/expired
  it("out of their time are refused", async () => {
    expect(await refusal(altered({ exp: now() - 1 }))).toContain("the token is refused: it has expired at ");
    expect(await refusal(altered({ exp: undefined }))).toContain("it has no end");
    expect(await refusal(altered({ exp: "9999999999" }))).toContain("claim 'exp' must be a number");
    expect(await refusal(altered({ exp: null }))).toContain("claim 'exp' must be a number");
    expect(await refusal(altered({ nbf: now() + 60 }))).toContain("it is not valid before");
    expect(await refusal(altered({ nbf: "0" }))).toContain("claim 'nbf' must be a number");
  });

  // covers: rest/7.3/wrong-issuer, rest/7.3/wrong-audience
  it("of another issuer, or for another service, are refused", async () => {
    const { url } = guarded.issuer;
    expect(await refusal(altered({ iss: "https://evil.example" }))).toBe(
      `the token is refused: it is of issuer "https://evil.example" (claim 'iss'), this server takes tokens of "${url}"`,
    );
    expect(await refusal(altered({ iss: `${url}/` }))).toContain("it is of issuer");
    expect(await refusal(altered({ aud: ["zz"] }))).toBe(
      `the token is refused: it is for ["zz"] (claim 'aud'), which must have this server's client id "${CLIENT_ID}"`,
    );
    expect(await refusal(altered({ aud: undefined }))).toBe(
      `the token is refused: it is for [] (claim 'aud'), which must have this server's client id "${CLIENT_ID}"`,
    );
  });

  // covers: rest/7.3/claim-missing, rest/7.3/claim-type, rest/1.3/500
  it("without a user are refused", async () => {
    expect(await refusal(altered({ email: undefined }))).toBe(
      "the token is refused: it has no claim 'email', which this server takes the user's name from",
    );
    expect(await refusal(altered({ email: 7 }))).toBe(
      "the token is refused: claim 'email', the user's name, must be a text, got a number",
    );
  });

  // covers: rest/7.3/not-a-token
  it("that are no tokens are refused", async () => {
    const malformed = "the token is refused: it is no JSON Web Token: that has three parts with dots between them";
    for (const token of ["x", "a.b", "a.b.c.d", "a.b.c.d.e", "..", "%00", "{}"]) {
      expect(await refusal(token), token).toBe(malformed);
    }
    expect(await refusal("a.b.c")).toContain("its header is not JSON");
    expect(await refusal(altered({}, { crit: ["exp"] }))).toContain("'crit'");
    expect(await refusal(altered({}, { typ: "logout+jwt" }))).toContain("it is of type");
  });

  it("of a megabyte are refused, by the limit of tokens or by that of headers", async () => {
    const token = altered({ padding: "x".repeat(730_000) });
    expect(token.length).toBeGreaterThan(970_000);
    expect(await refusal(token)).toBe(`the token is refused: it has ${token.length} bytes, at most 16384 are taken`);
    const longer = await guarded.server.http.get("/v1/objects", { Authorization: `Bearer ${"x".repeat(1_100_000)}` });
    expect(longer.status).toBe(431);
    expect(errorOf(longer)).toContain("REQUEST_HEADER_BYTES_MAX");
  });

  it("do not hold up the others: a thousand at once, and a good one among them", async () => {
    const { http } = guarded.server;
    const headers = await guarded.headersOf("alice");
    await http.get("/v1/meta", headers);
    const flood = Promise.all(
      Array.from({ length: 1_000 }, (_, i) =>
        http.get("/v1/meta", { Authorization: `Bearer ${altered({ i }, { kid: `k${i % 3}` }, rs256(stranger))}` }),
      ),
    );
    const good = await Promise.all(Array.from({ length: 20 }, () => http.get("/v1/meta", headers)));
    expect(good.map(({ status }) => status)).toEqual(good.map(() => 200));
    const statuses = new Set((await flood).map(({ status }) => status));
    for (const status of statuses) expect([401, 429, 503]).toContain(status);
    expect(statuses.has(401)).toBe(true);
    expect(guarded.issuer.asked.filter((path) => path === "/jwks").length).toBeLessThan(20);
  });
});
