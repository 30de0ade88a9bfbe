import { describe, expect, it } from "vitest";
import { makeKey, publicJwk } from "../testing/forged-tokens.js";
import { readKeySet } from "./key-set.js";

const rsa = makeKey("rsa", "rsa");
const ec = makeKey("ec", "P-256");

const idsOf = async (document: unknown) => (await readKeySet(document)).keys.map(({ id }) => id);

describe("the keys of an issuer", () => {
  it("are those that can verify, each with the algorithms that fit its kind", async () => {
    const set = await readKeySet({
      keys: [
        publicJwk(rsa, { use: undefined }),
        publicJwk(ec),
        publicJwk(makeKey("p384", "P-384")),
        publicJwk(makeKey("p521", "P-521")),
      ],
    });
    expect(set.keys.map(({ id, algorithms }) => [id, algorithms.join(" ")])).toEqual([
      ["rsa", "RS256 RS384 RS512 PS256 PS384 PS512"],
      ["ec", "ES256"],
      ["p384", "ES384"],
      ["p521", "ES512"],
    ]);
    expect(set.candidates("ES256", "rsa")).toEqual([]);
    expect(set.candidates("ES256", undefined).map(({ id }) => id)).toEqual(["ec"]);
  });

  it("sign with the algorithm that they name, and no other", async () => {
    const set = await readKeySet({ keys: [publicJwk(rsa, { alg: "PS256" }), publicJwk(ec, { alg: "RS256" })] });
    expect(set.keys.map(({ id, algorithms }) => [id, algorithms])).toEqual([["rsa", ["PS256"]]]);
  });

  it("are not those for encryption, private, symmetric, weak, broken or unknown ones", async () => {
    const keys = [
      publicJwk(rsa, { kid: "enc", use: "enc" }),
      publicJwk(rsa, { kid: "oaep", alg: "RSA-OAEP" }),
      publicJwk(rsa, { kid: "hmac-alg", alg: "HS256" }),
      publicJwk(rsa, { kid: "encrypts", key_ops: ["encrypt"] }),
      { ...rsa.privateKey.export({ format: "jwk" }), kid: "private" },
      { kty: "oct", k: Buffer.alloc(32, 1).toString("base64url"), kid: "oct", use: "sig" },
      publicJwk(makeKey("weak", "rsa-1024")),
      publicJwk(makeKey("ed", "ed25519")),
      publicJwk(rsa, { kid: "broken", n: "!!" }),
      publicJwk(ec, { kid: "off-curve", x: publicJwk(ec).y }),
      { kid: "empty" },
      null,
      "text",
      [],
    ];
    expect(await idsOf({ keys })).toEqual([]);
    expect(await idsOf({ keys: [...keys, publicJwk(ec)] })).toEqual(["ec"]);
  });

  it("may be none, but must be a list", async () => {
    expect(await idsOf({ keys: [] })).toEqual([]);
    for (const document of [null, undefined, {}, [], "keys", { keys: {} }, { keys: null }]) {
      await expect(readKeySet(document)).rejects.toThrow("it has no list 'keys'");
    }
  });

  it("are missed when they go, also when another one takes their id", async () => {
    const both = await readKeySet({ keys: [publicJwk(rsa), publicJwk(ec)] });
    const one = await readKeySet({ keys: [publicJwk(ec)] });
    const other = await readKeySet({ keys: [publicJwk(makeKey("ec", "P-256"))] });
    expect(both.hasKeyMissingIn(both)).toBe(false);
    expect(one.hasKeyMissingIn(both)).toBe(false);
    expect(both.hasKeyMissingIn(one)).toBe(true);
    expect(one.hasKeyMissingIn(other)).toBe(true);
  });
});
