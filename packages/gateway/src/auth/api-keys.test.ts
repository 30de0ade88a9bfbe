import { digestOfKey } from "@shoal/service-runtime";
import { describe, expect, it } from "vitest";
import type { Principal } from "./access.js";
import { API_KEY_BYTES_MAX, ApiKeyTable, ApiKeyVerifier, type HeldApiKey } from "./api-keys.js";

const user = (username: string): Principal => ({ username, groups: [], userType: "db" });
const held = (key: string, username: string): HeldApiKey => ({ digest: digestOfKey(key), principal: user(username) });

describe("API keys", () => {
  it("tell who holds them, whichever source knows them, the first one first", () => {
    const verifier = new ApiKeyVerifier([
      new ApiKeyTable([held("k1", "ada"), held("k2", "ben")]),
      new ApiKeyTable([held("k2", "other"), held("k3", "cyd")]),
    ]);
    expect(["k1", "k2", "k3"].map((key) => verifier.verify(key).username)).toEqual(["ada", "ben", "cyd"]);
    expect(verifier.counts).toEqual({ accepted: 3, refused: 0 });
  });

  it.each(["", "k", "k11", "K1", "k1 ", "x".repeat(API_KEY_BYTES_MAX + 1)])(
    "that nobody holds are refused: %#",
    (key) => {
      const verifier = new ApiKeyVerifier([new ApiKeyTable([held("k1", "ada")])]);
      expect(() => verifier.verify(key)).toThrow("unauthorized: invalid api key");
      expect(verifier.counts).toEqual({ accepted: 0, refused: 1 });
    },
  );

  it("of which only the first bytes of the digest agree are refused", () => {
    const table = new ApiKeyTable([held("k1", "ada")]);
    const near = digestOfKey("k1");
    near.writeUInt8(near.readUInt8(31) ^ 1, 31);
    expect(table.find(near)).toBeUndefined();
    expect(
      new ApiKeyTable([{ digest: near, principal: user("eve") }, held("k1", "ada")]).find(digestOfKey("k1")),
    ).toEqual(user("ada"));
  });

  it("that were withdrawn are refused from the next request on", () => {
    let keys = new ApiKeyTable([held("k1", "ada")]);
    const verifier = new ApiKeyVerifier([{ find: (digest) => keys.find(digest) }]);
    expect(verifier.verify("k1")).toEqual(user("ada"));
    keys = new ApiKeyTable([]);
    expect(() => verifier.verify("k1")).toThrow("unauthorized");
  });
});
