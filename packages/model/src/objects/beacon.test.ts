import { describe, expect, it } from "vitest";
import { invalidText } from "../testing/refusal.js";
import { parseLongBeacon, parseShortBeacon, writeLongBeacon, writeShortBeacon } from "./beacon.js";

const id = "8e2997f2-1972-4ee2-ad35-5fc704f2893e";

describe("beacons", () => {
  it("reads any scheme and writes the given one", () => {
    for (const scheme of ["svc", "weaviate", "x-y.z+1"]) {
      const short = parseShortBeacon(`${scheme}://localhost/${id.toUpperCase()}`);
      expect(short).toEqual({ host: "localhost", id });
      expect(writeShortBeacon("svc", short.id)).toBe(`svc://localhost/${id}`);
      const long = parseLongBeacon(`${scheme}://localhost/My_Class2/${id}/prop_1`);
      expect(long).toEqual({ host: "localhost", className: "My_Class2", id, property: "prop_1" });
      expect(writeLongBeacon("weaviate", long)).toBe(`weaviate://localhost/My_Class2/${id}/prop_1`);
    }
  });

  it("leaves the host of a short beacon to the caller", () => {
    expect(parseShortBeacon(`svc://other/${id}`).host).toBe("other");
  });

  it.each([
    ["", "path must be of format '/<uuid>', but got ''"],
    [`svc://localhost/Car/${id}`, `path must be of format '/<uuid>', but got '/Car/${id}'`],
    [`svc://localhost/${id}/`, `path must be of format '/<uuid>', but got '/${id}/'`],
    [`localhost/${id}/x`, `path must be of format '/<uuid>', but got 'localhost/${id}/x'`],
    [
      `svc://localhost/${"x".repeat(1_009)}`,
      `it has 1025 characters, at most 1024 are allowed: 'svc://localhost/${"x".repeat(184)}…'`,
    ],
    ["svc://localhost/abc", "2nd path segment must be uuid, but got 'abc'"],
    [`svc://localhost/${"x".repeat(1_000)}`, `2nd path segment must be uuid, but got '${"x".repeat(200)}…'`],
  ])("refuses the short beacon %s", (text, reason) => {
    expect(invalidText(() => parseShortBeacon(text))).toBe(`invalid cref URI: ${reason}`);
  });

  const form = "invalid cref URI: must use long-form: path must be of format '/<className>/<uuid>/<propertyName>'";
  it.each([
    [`svc://localhost/${id}`, `${form}, but got '/${id}'`],
    [`svc://localhost/Car/${id}`, `${form}, but got '/Car/${id}'`],
    [`svc://localhost/Car/${id}/p/q`, `${form}, but got '/Car/${id}/p/q'`],
    ["svc://localhost/Car/abc/p", "invalid cref URI: 2nd path segment must be uuid, but got 'abc'"],
    [`svc://localhost//${id}/p`, "className cannot be empty"],
    [`svc://localhost/car/${id}/p`, "className must start with an uppercase letter, but got car"],
    [`svc://localhost/Car/${id}/`, "property cannot be empty"],
    [
      `svc://localhost/${"C".repeat(1_100)}/${id}/p`,
      `invalid cref URI: it has 1155 characters, at most 1024 are allowed: 'svc://localhost/${"C".repeat(184)}…'`,
    ],
    [`svc://other/Car/${id}/p`, "source class must always point to the local peer, but got other"],
  ])("refuses the long beacon %s", (text, message) => {
    expect(invalidText(() => parseLongBeacon(text))).toBe(message);
  });
});
