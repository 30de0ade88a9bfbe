import { describe, expect, it } from "vitest";
import { ABSENT, END } from "./document-chunks.js";
import { IdSetDigest } from "./id-set-digest.js";

const rawId = (last: number) =>
  Buffer.from(`0123456789ab4cde8f0123456789ab${last.toString(16).padStart(2, "0")}`, "hex");

describe("digest of a set of ids", () => {
  it("is the sum of MurmurHash3 x86-32 with seeds 0 and 1", () => {
    const digest = new IdSetDigest();
    digest.add(Buffer.from("0123456789ab4cde8f0123456789abcd", "hex"));
    // Computed by another implementation, which gives 0x248bfa47 for "hello".
    expect(digest).toEqual(new IdSetDigest(1, 0xe6d1fe68, 0x648818b6));
    digest.add(Buffer.from("ffffffff000040008000000000000001", "hex"));
    expect(digest).toEqual(new IdSetDigest(2, 0x6bba4ae5, 0x7f79c124));
  });

  it("takes many ids at once, without documents that are not there", () => {
    const one = new IdSetDigest();
    for (const at of [1, 3, 4]) one.add(rawId(at));
    const bytes = Buffer.concat([rawId(1), rawId(2), rawId(3), rawId(4)]);
    const other = new IdSetDigest();
    other.addRun(new Uint32Array(new Uint8Array(bytes).buffer), Uint32Array.of(END, ABSENT, 0, 2));
    expect(other).toEqual(one);
  });

  it("is that of the set, whatever came and went", () => {
    const one = new IdSetDigest();
    for (const at of [1, 2, 3, 4]) one.add(rawId(at));
    one.remove(rawId(2));
    const other = new IdSetDigest();
    for (const at of [4, 1, 3]) other.add(rawId(at));
    expect(one.equals(other)).toBe(true);
    const copy = one.copy();
    one.remove(rawId(1));
    expect([one.equals(other), copy.equals(other)]).toEqual([false, true]);
    one.add(rawId(2));
    expect(one.count).toBe(other.count);
    expect(one.equals(other)).toBe(false);
  });
});
