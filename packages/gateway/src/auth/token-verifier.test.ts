import { silentLogger } from "@shoal/service-runtime";
import { describe, expect, it, onTestFinished } from "vitest";
import { forge, hmacWithPublicKey, issue, makeKey, publicJwk, signWith, UNSIGNED } from "../testing/forged-tokens.js";
import { StubIssuer } from "../testing/stub-issuer.js";
import type { Principal } from "./access.js";
import { ISSUER_TIMES, Issuer } from "./issuer.js";
import { TOKEN_BYTES_MAX, TokenVerifier } from "./token-verifier.js";
import { VerificationTurns } from "./verification-turns.js";
import { VERIFIED_MS_MAX, VerifiedTokens } from "./verified-tokens.js";

const NOW_MS = 1_790_000_000_000;
const NOW = NOW_MS / 1000;
const BAD_SIGNATURE = "failed to verify signature: failed to verify id token signature";
const rsa = makeKey("rsa", "rsa");
const ec = makeKey("ec", "P-256");

function setUp(turns?: Pick<VerificationTurns, "next">) {
  const stub = new StubIssuer();
  stub.publish(rsa, ec);
  const clock = { nowMs: NOW_MS, now: () => clock.nowMs };
  const verified = new VerifiedTokens();
  const issuer = new Issuer(stub.url, {
    clock,
    logger: silentLogger,
    read: stub.read,
    onKeysWithdrawn: () => verified.clear(),
  });
  onTestFinished(() => issuer[Symbol.dispose]());
  const oidc = {
    issuer: stub.url,
    clientId: "cid",
    skipClientIdCheck: false,
    usernameClaim: "sub",
    groupsClaim: "groups",
  };
  const verifier = new TokenVerifier({ oidc, issuer, verified, clock, ...(turns === undefined ? {} : { turns }) });
  const claims = { iss: stub.url, aud: "cid", exp: NOW + 3_600, sub: "alice", groups: ["g"] };
  return { stub, clock, verified, issuer, verifier, claims };
}

/** With the keys read. */
async function ready(turns?: Pick<VerificationTurns, "next">) {
  const all = setUp(turns);
  all.issuer.start();
  await all.issuer.lookAgain();
  return all;
}

/** Throws what `verify` throws or rejects with. */
async function verdict(verifier: TokenVerifier, token: string): Promise<Principal> {
  return await verifier.verify(token);
}

const refused = (message: string) => expect.objectContaining({ code: "unauthenticated", message });
const unavailable = expect.objectContaining({ code: "unavailable" });

describe("a good token", () => {
  it.each(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"])("may be signed with %s", async (alg) => {
    const { verifier, claims } = await ready();
    expect(await verdict(verifier, issue(rsa, claims, { alg }))).toEqual({ username: "alice", groups: ["g"] });
  });

  it.each([
    ["ES256", "P-256"],
    ["ES384", "P-384"],
    ["ES512", "P-521"],
  ] as const)("may be signed with %s", async (_, curve) => {
    const { stub, verifier, claims, issuer } = setUp();
    const key = makeKey("curve", curve);
    stub.publish(key);
    await issuer.lookAgain();
    expect(await verdict(verifier, issue(key, claims))).toMatchObject({ username: "alice" });
  });

  it("speaks at once when it comes again, without being looked at", async () => {
    const { verifier, claims, verified } = await ready();
    const token = issue(ec, claims);
    const first = verifier.verify(token);
    expect(first).toBeInstanceOf(Promise);
    expect(verifier.verify(token)).toBe(first);
    const principal = await first;
    expect(verifier.verify(token)).toBe(principal);
    expect(verified.size).toBe(1);
  });

  it("is looked at again after a minute, and refused at its end", async () => {
    const { verifier, claims, clock } = await ready();
    const [long, short] = [issue(ec, claims), issue(ec, { ...claims, exp: NOW + 10 })];
    const first = await verdict(verifier, long);
    await verdict(verifier, short);
    clock.nowMs = NOW_MS + 9_999;
    expect(await verdict(verifier, short)).toEqual(first);
    clock.nowMs = NOW_MS + 10_000;
    await expect(verdict(verifier, short)).rejects.toThrow("oidc: token is expired");
    clock.nowMs = NOW_MS + VERIFIED_MS_MAX - 1;
    expect(verifier.verify(long)).toBe(first);
    clock.nowMs = NOW_MS + VERIFIED_MS_MAX;
    expect(verifier.verify(long)).toBeInstanceOf(Promise);
  });

  it("without a key id is tried with the keys that fit", async () => {
    const { verifier, claims } = await ready();
    for (const key of [rsa, ec]) {
      expect(await verdict(verifier, issue(key, claims, { kid: undefined }))).toMatchObject({ username: "alice" });
    }
  });
});

describe("a bad token", () => {
  it("that is not signed, or with a secret, is refused", async () => {
    const { verifier, claims, stub } = await ready();
    for (const alg of ["none", "NONE", "None"]) {
      await expect(verdict(verifier, forge({ alg, kid: "rsa" }, claims, UNSIGNED))).rejects.toThrow(
        `oidc: id token signed with unsupported algorithm, expected ["RS256","RS384","RS512","PS256","PS384","PS512","ES256","ES384","ES512"] got "${alg}"`,
      );
    }
    for (const alg of ["HS256", "HS384", "HS512"] as const) {
      const token = forge({ alg, kid: "rsa", typ: "JWT" }, claims, hmacWithPublicKey(rsa, alg));
      await expect(verdict(verifier, token)).rejects.toThrow("unsupported algorithm");
      // The same with the name of an algorithm that is allowed.
      const disguised = forge({ alg: "RS256", kid: "rsa", typ: "JWT" }, claims, hmacWithPublicKey(rsa, alg));
      await expect(verdict(verifier, disguised)).rejects.toThrow(refused(BAD_SIGNATURE));
    }
    const empty = forge({ alg: "RS256", kid: "rsa" }, claims, UNSIGNED);
    await expect(verdict(verifier, empty)).rejects.toThrow(refused(BAD_SIGNATURE));
    expect(stub.keyReadings).toBe(1);
  });

  it("that says another thing than was signed is refused", async () => {
    const { verifier, claims } = await ready();
    const [header, , signature] = issue(rsa, claims).split(".");
    const forged = Buffer.from(JSON.stringify({ ...claims, sub: "root" })).toString("base64url");
    await expect(verdict(verifier, `${header}.${forged}.${signature}`)).rejects.toThrow(refused(BAD_SIGNATURE));
  });

  it("of a stranger's key is refused, wherever it says that key can be found", async () => {
    const { verifier, claims, stub } = await ready();
    const stranger = makeKey("rsa", "rsa");
    const elsewhere = {
      jku: "https://evil.test/keys",
      x5u: "https://evil.test/certificate",
      jwk: publicJwk(stranger),
      x5c: ["MIIB"],
    };
    for (const kid of ["rsa", "unheard-of", "", "../../dev/null", "' OR 1=1"]) {
      await expect(verdict(verifier, issue(stranger, claims, { kid, ...elsewhere }))).rejects.toThrow(
        refused(BAD_SIGNATURE),
      );
    }
    expect(await verdict(verifier, issue(rsa, claims, elsewhere))).toMatchObject({ username: "alice" });
    expect(stub.asked.filter((url) => !url.startsWith(stub.url))).toEqual([]);
  });

  it("with an algorithm that does not fit its key is refused", async () => {
    const { verifier, claims } = await ready();
    const header = { alg: "ES256", kid: "rsa" };
    await expect(verdict(verifier, forge(header, claims, signWith(rsa.privateKey, "RS256")))).rejects.toThrow(
      refused(BAD_SIGNATURE),
    );
    const hybrid = forge({ alg: "RS256", kid: "ec" }, claims, signWith(ec.privateKey, "ES256"));
    await expect(verdict(verifier, hybrid)).rejects.toThrow(refused(BAD_SIGNATURE));
  });

  it("that is too long is refused before it is read", async () => {
    const { verifier, claims, stub } = setUp();
    const token = issue(ec, { ...claims, padding: "x".repeat(TOKEN_BYTES_MAX) });
    await expect(verdict(verifier, token)).rejects.toThrow(
      refused(`oidc: token has ${token.length} bytes, at most ${TOKEN_BYTES_MAX} are accepted`),
    );
    expect(stub.asked).toEqual([]);
  });

  it("without the claim that names its user is refused", async () => {
    const { verifier, claims } = await ready();
    const { sub, ...without } = claims;
    await expect(verdict(verifier, issue(ec, without))).rejects.toThrow(
      refused("oidc: token doesn't contain required claim 'sub'"),
    );
    await expect(verdict(verifier, issue(ec, { ...claims, sub: 7 }))).rejects.toThrow(
      refused("oidc: claim 'sub' is not a string, but number"),
    );
  });

  it("is not remembered", async () => {
    const { verifier, claims, verified } = await ready();
    await expect(verdict(verifier, issue(makeKey("ec"), claims))).rejects.toThrow();
    await expect(verdict(verifier, issue(ec, { ...claims, exp: NOW - 1 }))).rejects.toThrow();
    expect(verified.size).toBe(0);
  });
});

describe("keys that change", () => {
  it("a new key is found by the first token that is signed with it", async () => {
    const { verifier, claims, stub } = await ready();
    const next = makeKey("next");
    stub.publish(rsa, ec, next);
    expect(await verdict(verifier, issue(next, claims))).toMatchObject({ username: "alice" });
  });

  it("a new key is found without an id, too", async () => {
    const { verifier, claims, stub } = await ready();
    const next = makeKey("next");
    stub.keys = { keys: [publicJwk(next, { kid: undefined })] };
    expect(await verdict(verifier, issue(next, claims, { kid: undefined }))).toMatchObject({ username: "alice" });
  });

  it("invented ids neither make the issuer work nor keep a new key out", async () => {
    const { verifier, claims, stub, clock } = await ready();
    for (let i = 0; i < 200; i++) {
      await expect(verdict(verifier, issue(ec, claims, { kid: `invented-${i}` }))).rejects.toThrow(BAD_SIGNATURE);
    }
    expect(stub.keyReadings).toBeLessThan(6);
    const next = makeKey("next");
    stub.publish(next);
    // In the midst of the flood, at the next reading.
    clock.nowMs += 10_000;
    await expect(verdict(verifier, issue(ec, claims, { kid: "invented" }))).rejects.toThrow(BAD_SIGNATURE);
    expect(await verdict(verifier, issue(next, claims))).toMatchObject({ username: "alice" });
  });

  it("tokens of a withdrawn key are refused as soon as that is known, those that were verified included", async () => {
    const { verifier, claims, stub, issuer } = await ready();
    const token = issue(ec, claims);
    await verdict(verifier, token);
    stub.publish(rsa);
    await issuer.lookAgain();
    await expect(verdict(verifier, token)).rejects.toThrow(refused(BAD_SIGNATURE));
    expect(ISSUER_TIMES.keysMs + VERIFIED_MS_MAX / 2).toBeLessThanOrEqual(60_000);
  });

  it("a token that was verified with keys that have been replaced meanwhile is not remembered", async () => {
    let go = (): void => {};
    const turn = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { verifier, claims, stub, issuer, verified } = await ready({ next: () => turn });
    const verdictOfOld = verdict(verifier, issue(ec, claims));
    stub.publish(rsa);
    await issuer.lookAgain();
    go();
    expect(await verdictOfOld).toMatchObject({ username: "alice" });
    expect(verified.size).toBe(0);
    await expect(verdict(verifier, issue(ec, claims))).rejects.toThrow(refused(BAD_SIGNATURE));
  });
});

describe("an issuer that does not answer", () => {
  it("costs every token a 503 as long as no key is known", async () => {
    const { verifier, claims, stub, issuer } = setUp();
    stub.discovery = new Error("down");
    await issuer.lookAgain();
    for (const token of [issue(ec, claims), "garbage"]) {
      await expect(verdict(verifier, token)).rejects.toThrow(unavailable);
    }
    await expect(verdict(verifier, "garbage")).rejects.toMatchObject({ retryAfterSeconds: 1 });
  });

  it("costs tokens of known keys nothing, those of unknown ones a 503", async () => {
    const { verifier, claims, stub, issuer } = await ready();
    stub.keys = new Error("down");
    await issuer.lookAgain();
    expect(await verdict(verifier, issue(ec, claims))).toMatchObject({ username: "alice" });
    await expect(verdict(verifier, issue(makeKey("next"), claims))).rejects.toThrow(unavailable);
    await expect(verdict(verifier, issue(makeKey("ec"), claims))).rejects.toThrow(refused(BAD_SIGNATURE));
  });

  it("holds up no more than a number of requests that wait for its keys", async () => {
    const { verifier, claims, stub } = await ready();
    let go = (): void => {};
    stub.delay = new Promise((resolve) => {
      go = resolve;
    });
    const next = makeKey("next");
    const verdicts = Array.from({ length: 400 }, (_, i) => verdict(verifier, issue(next, { ...claims, i })));
    const early = await Promise.race([...verdicts.map((one) => one.catch((error) => error)), undefined]);
    expect(early).toBeUndefined();
    await expect(verdicts[399]).rejects.toThrow(unavailable);
    // A token of a known key does not wait for them.
    expect(await verdict(verifier, issue(ec, claims))).toMatchObject({ username: "alice" });
    stub.publish(next);
    go();
    const ends = await Promise.allSettled(verdicts);
    expect(ends.filter(({ status }) => status === "fulfilled").length).toBe(250);
  });
});

describe("a flood", () => {
  it("of well-formed tokens is refused beyond a number that waits, and what waits is served in turns", async () => {
    const { verifier, claims, stub } = await ready(new VerificationTurns(20));
    const stranger = makeKey("ec");
    let turns = 0;
    let running = true;
    const count = (): void => {
      turns++;
      if (running) setImmediate(count);
    };
    setImmediate(count);
    const flood = Array.from({ length: 50 }, (_, i) => verdict(verifier, issue(stranger, { ...claims, i })));
    const ends = await Promise.allSettled(flood);
    running = false;
    const reasons = ends.map((end) => (end.status === "rejected" ? end.reason.code : "accepted"));
    expect(reasons.filter((code) => code === "overloaded").length).toBe(30);
    expect(reasons.filter((code) => code === "unauthenticated").length).toBe(20);
    // Each signature has a turn of its own, in which others are served.
    expect(turns).toBeGreaterThanOrEqual(20);
    expect(stub.keyReadings).toBe(1);
    expect(await verdict(verifier, issue(ec, claims))).toMatchObject({ username: "alice" });
  });
});

describe("the tokens that were verified lately", () => {
  const principal = { username: "a", groups: [] };

  it("are bounded, the oldest goes first", () => {
    const tokens = new VerifiedTokens(3);
    for (let i = 0; i < 10; i++) tokens.add(`t${i}`, principal, NOW_MS + 1e6, NOW_MS + i);
    expect(tokens.size).toBe(3);
    expect(tokens.find("t6", NOW_MS + 10)).toBeUndefined();
    expect(tokens.find("t7", NOW_MS + 10)).toBe(principal);
  });

  it("do not last longer because a clock was set back", () => {
    const tokens = new VerifiedTokens();
    tokens.add("t", principal, NOW_MS + 1e9, NOW_MS);
    expect(tokens.find("t", NOW_MS - 1)).toBeUndefined();
    expect(tokens.find("t", NOW_MS)).toBeUndefined();
  });
});
