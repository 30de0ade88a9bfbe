import { describe, expect, it } from "vitest";
import { keepSignInRequest, SIGN_IN_MS_MAX, type SignInRequest, takeSignInRequest } from "./sign-in-request.js";
import { claimsOf, keepTokens, keptTokens, tokensOf } from "./tokens.js";

class MemoryStorage implements Storage {
  readonly #values = new Map<string, string>();

  get length(): number {
    return this.#values.size;
  }

  clear(): void {
    this.#values.clear();
  }

  getItem(key: string): string | null {
    return this.#values.get(key) ?? null;
  }

  key(index: number): string | null {
    return [...this.#values.keys()][index] ?? null;
  }

  removeItem(key: string): void {
    this.#values.delete(key);
  }

  setItem(key: string, value: string): void {
    this.#values.set(key, value);
  }
}

const REQUEST: SignInRequest = { state: "s", nonce: "n", codeVerifier: "v", fragment: "#/classes", begunAt: 1_000 };

function jwt(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256" })}.${part(claims)}.signature`;
}

describe("what survives the way to the issuer", () => {
  it("can be taken once", () => {
    const storage = new MemoryStorage();
    keepSignInRequest(storage, REQUEST);
    expect(takeSignInRequest(storage, 2_000)).toEqual(REQUEST);
    expect(takeSignInRequest(storage, 2_000)).toBeUndefined();
  });

  it.each([REQUEST.begunAt + SIGN_IN_MS_MAX + 1, REQUEST.begunAt - 1])("is not taken at %d", (now) => {
    const storage = new MemoryStorage();
    keepSignInRequest(storage, REQUEST);
    expect(takeSignInRequest(storage, now)).toBeUndefined();
  });

  it.each(["//evil.example", "https://evil.example", "/v1", "javascript:alert(1)"])("never leads to %s", (fragment) => {
    const storage = new MemoryStorage();
    keepSignInRequest(storage, { ...REQUEST, fragment });
    expect(takeSignInRequest(storage, 2_000)?.fragment).toBe("");
  });

  it.each(["", "null", "[]", "{}", "{", '{"state":1}'])("%j in the storage is nothing", (text) => {
    const storage = new MemoryStorage();
    storage.setItem("shoal.console.sign-in", text);
    expect(takeSignInRequest(storage, 2_000)).toBeUndefined();
  });
});

describe("tokens", () => {
  const idToken = jwt({ sub: "u1", preferred_username: "Änne", exp: 1_600, iat: 1_000 });

  it("the access token is sent when it is a JWT", () => {
    const access = jwt({ sub: "u1" });
    const response = { access_token: access, id_token: idToken, refresh_token: "r", expires_in: 60 };
    expect(tokensOf(response, undefined, "https://i", 5_000)).toEqual({
      bearer: access,
      idToken,
      refreshToken: "r",
      expiresAt: 65_000,
      name: "Änne",
      issuer: "https://i",
    });
  });

  it("otherwise the ID token, for as long as that one lives", () => {
    const response = { access_token: "opaque", id_token: idToken, expires_in: 60 };
    expect(tokensOf(response, undefined, "https://i", 5_000)).toMatchObject({ bearer: idToken, expiresAt: 605_000 });
    expect(tokensOf({ access_token: "opaque" }, undefined, "https://i", 5_000)).toBeUndefined();
  });

  it("a refresh keeps what the answer does not bring anew", () => {
    const before = tokensOf({ access_token: jwt({}), id_token: idToken, refresh_token: "r1" }, undefined, "i", 0);
    const after = tokensOf({ access_token: jwt({ sub: "u1" }) }, before, "i", 0);
    expect(after).toMatchObject({ refreshToken: "r1", idToken, name: "Änne" });
    expect(tokensOf({ access_token: jwt({}), refresh_token: "r2" }, before, "i", 0)?.refreshToken).toBe("r2");
  });

  it("those of another issuer are not used", () => {
    const storage = new MemoryStorage();
    const tokens = tokensOf({ access_token: jwt({ sub: "u1" }) }, undefined, "https://i", 0);
    keepTokens(storage, tokens);
    expect(keptTokens(storage, "https://i")).toEqual(tokens);
    expect(keptTokens(storage, "https://other")).toBeUndefined();
    keepTokens(storage, undefined);
    expect(storage.length).toBe(0);
  });

  it.each(["", "a.b", "a.b.c", "..", `x.${btoa("[]")}.y`])("%j has no claims", (text) => {
    expect(claimsOf(text)).toBeUndefined();
  });
});
