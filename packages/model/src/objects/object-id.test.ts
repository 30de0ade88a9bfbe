import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { objectIdFromBytes, objectIdToBytes, parseObjectId, writeObjectId } from "./object-id.js";

const canonical = "8e2997f2-1972-4ee2-ad35-5fc704f2893e";

describe("object ids", () => {
  it.each([
    canonical,
    canonical.toUpperCase(),
    canonical.replaceAll("-", ""),
    canonical.toUpperCase().replaceAll("-", ""),
  ])("reads %s", (text) => {
    expect(parseObjectId(text)).toBe(canonical);
  });

  it.each([
    "",
    "foo",
    canonical.slice(1),
    `${canonical}0`,
    canonical.replace("-", ""),
    `{${canonical}}`,
    `${canonical}\n`,
  ])("refuses %j", (text) => {
    expect(parseObjectId(text)).toBeUndefined();
  });

  it("goes to raw bytes and back", () => {
    for (let i = 0; i < 500; i++) {
      const bytes = new Uint8Array(randomBytes(16));
      const id = objectIdFromBytes(bytes);
      expect(parseObjectId(id)).toBe(id);
      expect(objectIdToBytes(id)).toEqual(bytes);
      const target = new Uint8Array(20);
      writeObjectId(id, target, 3);
      expect(target.subarray(3, 19)).toEqual(bytes);
      expect(objectIdFromBytes(target, 3)).toBe(id);
    }
    expect(() => objectIdFromBytes(new Uint8Array(15))).toThrow("an object id has 16 bytes, got 15");
  });
});
