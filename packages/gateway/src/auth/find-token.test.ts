import { describe, expect, it } from "vitest";
import { findToken } from "./find-token.js";

const inHeader = (authorization: string | undefined, queryString = "") => findToken({ authorization, queryString });

describe("where a token is", () => {
  it("is taken from the header, else from the query", () => {
    expect(inHeader("Bearer abc")).toBe("abc");
    expect(inHeader("Bearer   abc ")).toBe("abc");
    expect(inHeader(undefined, "limit=3&access_token=a%2Bb")).toBe("a+b");
    expect(inHeader("Bearer abc", "access_token=def")).toBe("abc");
    expect(inHeader("Basic YTpi", "access_token=def")).toBe("def");
  });

  it("is none for other schemes, for another spelling, and where nothing stands", () => {
    for (const header of [undefined, "", "Bearer", "Bearer ", "bearer abc", "BEARER abc", "Basic YTpi", "abc"]) {
      expect(inHeader(header), String(header)).toBeUndefined();
    }
    for (const query of ["", "access_token=", "access_token", "x=access_token", "my_access_token=abc"]) {
      expect(inHeader(undefined, query), query).toBeUndefined();
    }
  });
});
