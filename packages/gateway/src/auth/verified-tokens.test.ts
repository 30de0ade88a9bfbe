import { describe, expect, it } from "vitest";
import { NOW_MS } from "../testing/token-verifiers.js";
import { VerifiedTokens } from "./verified-tokens.js";

describe("the tokens that were verified lately", () => {
  const principal = { username: "a", groups: [], userType: "oidc" } as const;

  it("are bounded, the oldest goes first", () => {
    const tokens = new VerifiedTokens(3);
    for (let i = 0; i < 10; i++) tokens.add(`t${i}`, principal, NOW_MS + 1e6, NOW_MS + i);
    expect(tokens.size).toBe(3);
    expect(tokens.find("t6", NOW_MS + 10)).toBeUndefined();
    expect(tokens.find("t7", NOW_MS + 10)).toBe(principal);
  });

  it("are bounded by what their names take, too", () => {
    const tokens = new VerifiedTokens(100, 35);
    const long = { username: "abcd", groups: ["efgh", "ij"], userType: "oidc" } as const;
    for (let i = 0; i < 10; i++) tokens.add(`t${i}`, long, NOW_MS + 1e6, NOW_MS + i);
    expect(tokens.size).toBe(3);
    expect(tokens.find("t7", NOW_MS + 10)).toBe(long);
    for (let i = 0; i < 3; i++) tokens.add("t9", long, NOW_MS + 1e6, NOW_MS + 20);
    expect([tokens.size, tokens.find("t7", NOW_MS + 30)]).toEqual([3, long]);
    // Time takes them out again, and a clear all of them.
    tokens.add("late", principal, NOW_MS + 2e6, NOW_MS + 1e6);
    expect(tokens.size).toBe(1);
    tokens.clear();
    for (let i = 0; i < 4; i++) tokens.add(`t${i}`, long, NOW_MS + 1e6, NOW_MS);
    expect(tokens.size).toBe(3);
  });

  it("do not last longer because a clock was set back", () => {
    const tokens = new VerifiedTokens();
    tokens.add("t", principal, NOW_MS + 1e9, NOW_MS);
    expect(tokens.find("t", NOW_MS - 1)).toBeUndefined();
    expect(tokens.find("t", NOW_MS)).toBeUndefined();
  });
});
