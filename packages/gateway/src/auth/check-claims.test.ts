import { describe, expect, it } from "vitest";
import { checkToken, NOT_BEFORE_TOLERANCE_SECONDS, principalOf } from "./check-claims.js";
import { parseJsonWebToken } from "./json-web-token.js";

const OIDC = {
  issuer: "https://issuer.test",
  clientId: "cid",
  skipClientIdCheck: false,
  usernameClaim: "email",
  groupsClaim: "groups",
  scopes: [],
  keysUrl: undefined,
};
const NOW_MS = Date.UTC(2026, 10, 20, 4, 37, 50);
const NOW = NOW_MS / 1000;
const GOOD = { iss: OIDC.issuer, aud: "cid", exp: NOW + 60, email: "a@x" };
const HEADER = { alg: "RS256", kid: "k1" };

const check = (claims: object, header: object = HEADER, oidc: typeof OIDC = OIDC) =>
  checkToken({ header: { ...header }, claims: { ...claims } }, oidc, NOW_MS);
const refusal = (claims: object, header?: object) => {
  try {
    check(claims, header);
    return "accepted";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("what a token must say", () => {
  it("is accepted as it should be", () => {
    expect(check(GOOD)).toEqual({ algorithm: "RS256", keyId: "k1" });
    expect(check({ ...GOOD, aud: ["other", "cid"], nbf: NOW, iat: "x" })).toBeTruthy();
  });

  it.each([
    [
      { ...GOOD, iss: "https://issuer.test/" },
      'it is of issuer "https://issuer.test/" (claim \'iss\'), this server takes tokens of "https://issuer.test"',
    ],
    [{ ...GOOD, iss: undefined }, 'the token is refused: it is of issuer ""'],
    [{ ...GOOD, iss: ["https://issuer.test"] }, 'of issuer ["https://issuer.test"]'],
    [
      { ...GOOD, aud: ["zz"] },
      `the token is refused: it is for ["zz"] (claim 'aud'), which must have this server's client id "cid"`,
    ],
    [{ ...GOOD, aud: "cidx" }, 'it is for ["cidx"]'],
    [{ ...GOOD, aud: undefined }, "it is for []"],
    [{ ...GOOD, aud: { cid: true } }, "(claim 'aud')"],
    [{ ...GOOD, exp: NOW }, "the token is refused: it has expired at 2026-11-20T04:37:50Z: get a new one"],
    [{ ...GOOD, exp: -1e300 }, "it has expired at -1e+300"],
    [{ ...GOOD, exp: undefined }, "it has no end (claim 'exp')"],
    [{ ...GOOD, exp: String(NOW + 60) }, "claim 'exp' must be a number, got a text"],
    [{ ...GOOD, exp: null }, "claim 'exp' must be a number, got null"],
    [{ ...GOOD, nbf: NOW + NOT_BEFORE_TOLERANCE_SECONDS + 1 }, "it is not valid before 2026-11-20T04:37:56Z"],
    [{ ...GOOD, nbf: "0" }, "claim 'nbf' must be a number, got a text"],
  ])("is refused: %j", (claims, message) => {
    expect(refusal(claims)).toContain(message);
  });

  it("may begin a little later than now, for the clocks of others", () => {
    expect(refusal({ ...GOOD, nbf: NOW + NOT_BEFORE_TOLERANCE_SECONDS })).toBe("accepted");
  });

  it("needs no audience when that check is off", () => {
    const oidc = { ...OIDC, skipClientIdCheck: true };
    for (const aud of [undefined, "other", 7]) expect(check({ ...GOOD, aud }, HEADER, oidc)).toBeTruthy();
  });

  it("names faults in the order of the reference", () => {
    const faults = { iss: "x", aud: "x", exp: 0 };
    expect(refusal(faults, { alg: "none" })).toContain("of issuer");
    expect(refusal({ ...faults, iss: OIDC.issuer }, { alg: "none" })).toContain("'aud'");
    expect(refusal({ ...faults, iss: OIDC.issuer, aud: "cid" }, { alg: "none" })).toContain("expired");
    expect(refusal(GOOD, { alg: "none" })).toContain("it is signed with");
  });

  it("quotes no more of a long value than a line", () => {
    expect(refusal({ ...GOOD, iss: "x".repeat(10_000) }).length).toBeLessThan(400);
  });
});

describe("the header of a token", () => {
  it.each(["none", "None", "HS256", "HS384", "HS512", "EdDSA", "RS1", "rs256", "", undefined, 7, ["RS256"]])(
    "names an asymmetric algorithm, not %j",
    (alg) => {
      expect(refusal(GOOD, { ...HEADER, alg })).toContain("(header 'alg'), this server takes RS256, ");
    },
  );

  it("names a type for access or identity, if any", () => {
    for (const typ of ["JWT", "jwt", "at+jwt", "application/at+jwt", undefined]) {
      expect(refusal(GOOD, { ...HEADER, typ }), String(typ)).toBe("accepted");
    }
    for (const typ of ["logout+jwt", "dpop+jwt", "JOSE", "", 1, null]) {
      expect(refusal(GOOD, { ...HEADER, typ }), String(typ)).toContain("it is of type");
    }
  });

  it("has no extensions, and a key id that is a string", () => {
    expect(refusal(GOOD, { ...HEADER, crit: ["b64"], b64: false })).toContain("'crit'");
    expect(refusal(GOOD, { ...HEADER, kid: 7 })).toContain("'kid' must be a text, got a number");
    expect(check(GOOD, { alg: "ES256" })).toEqual({ algorithm: "ES256", keyId: undefined });
  });
});

describe("who a token speaks for", () => {
  const name = (claims: object, oidc: typeof OIDC = OIDC) => principalOf({ ...claims }, oidc);

  it("is the configured claim, a string that is not empty", () => {
    expect(name({ sub: "s", email: "a@x", email_verified: true }).username).toBe("a@x");
    expect(() => name({ sub: "s" })).toThrow(
      "the token is refused: it has no claim 'email', which this server takes the user's name from",
    );
    expect(() => name({ email: 5 })).toThrow("claim 'email', the user's name, must be a text, got a number");
    expect(() => name({ email: null })).toThrow("must be a text, got null");
    expect(() => name({ email: "" })).toThrow("claim 'email', the user's name, is empty");
    expect(() => name({}, { ...OIDC, usernameClaim: "constructor" })).toThrow("no claim 'constructor'");
  });

  // S4: an issuer lets people type any address, and says so.
  it("S4: is an email only when the issuer has verified it", () => {
    for (const email_verified of [true, "true"]) expect(name({ email: "a@x", email_verified }).username).toBe("a@x");
    for (const email_verified of [false, "false", 1, null, "yes", {}]) {
      expect(() => name({ email: "a@x", email_verified })).toThrow("claim 'email_verified' must be true, got ");
    }
    expect(() => name({ email: "a@x" })).toThrow("'email_verified' must be true, and the token has none");
    const bySubject = { ...OIDC, usernameClaim: "sub" };
    expect(name({ sub: "s", email: "a@x", email_verified: false }, bySubject).username).toBe("s");
  });

  it("has the groups of an array, strings only, and else none", () => {
    expect(name({ email: "a", email_verified: true, groups: ["g1", 2, null, ["x"], "g2"] }).groups).toEqual([
      "g1",
      "g2",
    ]);
    for (const groups of [undefined, null, "g1", 7, { 0: "g1" }]) {
      expect(name({ email: "a", email_verified: true, groups }).groups).toEqual([]);
    }
    const { groupsClaim, ...without } = OIDC;
    expect(
      principalOf({ email: "a", email_verified: true, groups: ["g1"] }, { ...without, groupsClaim: undefined }).groups,
    ).toEqual([]);
  });
});

describe("the form of a token", () => {
  const part = (text: string | Buffer) => Buffer.from(text).toString("base64url");
  const object = part("{}");

  it.each(["", "a", "a.b", "a.b.c.d", "a.b.c.d.e", "..", `.${object}.x`, "a b.c.d", `${object}.${object}=.x`, "ä.ö.ü"])(
    "is three parts of base64url, not %j",
    (token) => {
      expect(() => parseJsonWebToken(token)).toThrow(
        "the token is refused: it is no JSON Web Token: that has three parts with dots between them",
      );
    },
  );

  it("holds JSON objects in UTF-8", () => {
    for (const [header, claims, message] of [
      [part("["), object, "its header is not JSON"],
      [part("[]"), object, "its header is not a JSON object"],
      [object, part("null"), "its payload is not a JSON object"],
      [object, part(Buffer.from([0x7b, 0xff, 0x7d])), "its payload is not JSON"],
      [object, part("{".repeat(4_000)), "its payload is not JSON"],
    ] as const) {
      expect(() => parseJsonWebToken(`${header}.${claims}.x`)).toThrow(message);
    }
    expect(parseJsonWebToken(`${part('{"alg":"ES256"}')}.${part('{"email":"ä"}')}.`)).toEqual({
      header: { alg: "ES256" },
      claims: { email: "ä" },
    });
  });
});
