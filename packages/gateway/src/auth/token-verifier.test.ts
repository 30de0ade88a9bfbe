import { describe, expect, it } from "vitest";
import { forge, hmacWithPublicKey, issue, makeKey, publicJwk, signWith, UNSIGNED } from "../testing/forged-tokens.js";
import { BAD_SIGNATURE, NOW, NOW_MS, readyVerifierOf, verdict, verifierOf } from "../testing/token-verifiers.js";
import { TOKEN_BYTES_MAX } from "./token-verifier.js";
import { VERIFIED_MS_MAX } from "./verified-tokens.js";

const rsa = makeKey("rsa", "rsa");
const ec = makeKey("ec", "P-256");
const setUp = () => verifierOf([rsa, ec]);
const ready = () => readyVerifierOf([rsa, ec]);
const refused = (message: string) => expect.objectContaining({ code: "unauthenticated", message });

describe("a good token", () => {
  it.each(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"])("may be signed with %s", async (alg) => {
    const { verifier, claims } = await ready();
    expect(await verdict(verifier, issue(rsa, claims, { alg }))).toEqual({
      username: "alice",
      groups: ["g"],
      userType: "oidc",
    });
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

  it("is counted by what became of it", async () => {
    const { verifier, claims } = await ready();
    const token = issue(ec, claims);
    await verdict(verifier, token);
    for (let again = 0; again < 3; again++) await verdict(verifier, token);
    for (const bad of ["x", "x".repeat(TOKEN_BYTES_MAX + 1), forge({ alg: "ES256", kid: "ec" }, claims, UNSIGNED)]) {
      await expect(verdict(verifier, bad)).rejects.toThrow();
    }
    expect(verifier.counts).toEqual({ cached: 3, verified: 1, refused: 3, unanswered: 0 });
  });

  it("is looked at again after a minute, and refused at its end", async () => {
    const { verifier, claims, clock } = await ready();
    const [long, short] = [issue(ec, claims), issue(ec, { ...claims, exp: NOW + 10 })];
    const first = await verdict(verifier, long);
    await verdict(verifier, short);
    clock.nowMs = NOW_MS + 9_999;
    expect(await verdict(verifier, short)).toEqual(first);
    clock.nowMs = NOW_MS + 10_000;
    await expect(verdict(verifier, short)).rejects.toThrow("it has expired at");
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
        `the token is refused: it is signed with "${alg}" (header 'alg'), this server takes RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512`,
      );
    }
    for (const alg of ["HS256", "HS384", "HS512"] as const) {
      const token = forge({ alg, kid: "rsa", typ: "JWT" }, claims, hmacWithPublicKey(rsa, alg));
      await expect(verdict(verifier, token)).rejects.toThrow("it is signed with");
      // The same with the name of an algorithm that is allowed.
      const disguised = forge({ alg: "RS256", kid: "rsa", typ: "JWT" }, claims, hmacWithPublicKey(rsa, alg));
      await expect(verdict(verifier, disguised)).rejects.toThrow(refused(BAD_SIGNATURE));
    }
    const empty = forge({ alg: "RS256", kid: "rsa" }, claims, UNSIGNED);
    await expect(verdict(verifier, empty)).rejects.toThrow(refused(BAD_SIGNATURE));
    expect(stub.keyReadings).toBe(1);
  });

  it.each(["iss", "aud", "exp", "nbf", "email_verified"])(
    "S11: whose claim %s is nested deeper than anything can be written is refused in a few words",
    async (name) => {
      const { verifier, claims } = await ready();
      const deep = "[".repeat(5_000) + "]".repeat(5_000);
      const members = JSON.stringify({ ...claims, [name]: undefined }).slice(1, -1);
      const payload = Buffer.from(`{"${name}":${deep},${members}}`).toString("base64url");
      const header = Buffer.from('{"alg":"ES256"}').toString("base64url");
      await expect(verdict(verifier, `${header}.${payload}.AA`)).rejects.toThrow(
        refused("the token is refused: its payload is nested deeper than 200 levels"),
      );
    },
  );

  it.each(["alg", "typ", "crit", "kid"])("S11: so is one with such a header %s", async (name) => {
    const { verifier, claims } = await ready();
    const header = Buffer.from(`{"${name}":${"[".repeat(5_000)}${"]".repeat(5_000)}}`).toString("base64url");
    const payload = Buffer.from(JSON.stringify(claims)).toString("base64url");
    await expect(verdict(verifier, `${header}.${payload}.AA`)).rejects.toThrow(
      refused("the token is refused: its header is nested deeper than 200 levels"),
    );
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
      refused(`the token is refused: it has ${token.length} bytes, at most ${TOKEN_BYTES_MAX} are taken`),
    );
    expect(stub.asked).toEqual([]);
  });

  it("without the claim that names its user is refused", async () => {
    const { verifier, claims } = await ready();
    const { sub, ...without } = claims;
    await expect(verdict(verifier, issue(ec, without))).rejects.toThrow(
      refused("the token is refused: it has no claim 'sub', which this server takes the user's name from"),
    );
    await expect(verdict(verifier, issue(ec, { ...claims, sub: 7 }))).rejects.toThrow(
      refused("the token is refused: claim 'sub', the user's name, must be a text, got a number"),
    );
  });

  it("is not remembered", async () => {
    const { verifier, claims, verified } = await ready();
    await expect(verdict(verifier, issue(makeKey("ec"), claims))).rejects.toThrow();
    await expect(verdict(verifier, issue(ec, { ...claims, exp: NOW - 1 }))).rejects.toThrow();
    expect(verified.size).toBe(0);
  });
});
