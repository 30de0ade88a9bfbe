import { describe, expect, it } from "vitest";
import { carriesToken, findToken, refuseTokens } from "./find-token.js";

const inHeader = (authorization: string | undefined, queryString = "") => findToken({ authorization, queryString });

describe("where a token is", () => {
  it("is taken from the header, else from the query", () => {
    expect(inHeader("Bearer abc")).toBe("abc");
    expect(inHeader("Bearer   abc ")).toBe("abc");
    expect(inHeader(undefined, "limit=3&access_token=a%2Bb")).toBe("a+b");
    expect(inHeader(undefined, "access%5Ftoken=abc")).toBe("abc");
    expect(carriesToken("%61ccess_token=abc")).toBe(true);
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

  it("is one place, with one token", () => {
    const refused = (authorization: string | undefined, queryString: string) =>
      refuseTokens({ authorization, queryString });
    for (const query of [
      "access_token=a&access_token=b",
      "access_token=a&limit=1&access_token=a",
      "access_token=&access_token=b",
      "access_token=a&access%5ftoken=b",
      "%61ccess_token=a&access_token",
    ]) {
      for (const header of [undefined, "Bearer a", "Basic YTpi"])
        expect(refused(header, query), query).toBe("the access_token parameter stands more than once");
    }
    // Schemes are alike in any spelling for a proxy in front.
    for (const header of ["Bearer a", "Bearer b", "bearer b", "BEARER  b"]) {
      for (const query of ["access_token=a", "limit=1&access%5Ftoken=a"])
        expect(refused(header, query), header).toBe(
          "there is a token in the Authorization header and one in the access_token parameter",
        );
    }
    for (const header of [undefined, "", "Bearer", "Bearer ", "Basic YTpi"])
      expect(refused(header, "access_token=a"), String(header)).toBeUndefined();
    for (const query of ["", "limit=1", "access_token=", "access_token", "my_access_token=a", "x=access_token&x=%20"])
      expect(refused("Bearer a", query), query).toBeUndefined();
  });
});
