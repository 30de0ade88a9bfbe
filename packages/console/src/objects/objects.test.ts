import { describe, expect, it } from "vitest";
import { readBeacon } from "./beacon.js";
import { isReferenceType, readClasses } from "./class-info.js";
import { readObjects, summaryOf } from "./stored-object.js";

const U = "11111111-1111-1111-1111-11111111abcd";

describe("beacons", () => {
  it.each([
    [`svc://localhost/${U}`, undefined],
    [`weaviate://localhost/${U.toUpperCase()}`, undefined],
    [`svc://localhost/Article/${U}`, "Article"],
    [`svc://localhost/Article/${U}/hasAuthor`, "Article"],
  ])("%s is followed", (beacon, className) => {
    expect(readBeacon(beacon)).toEqual({ id: U, className });
  });

  it.each([
    "",
    U,
    "svc://localhost",
    "svc://localhost/",
    "svc:///x",
    "javascript:alert(1)",
    `svc://localhost/a/b/${U}`,
  ])("%j names no object", (beacon) => {
    expect(readBeacon(beacon)).toBeUndefined();
  });
});

describe("classes", () => {
  it("are read with what a class may leave out", () => {
    const text = JSON.stringify({
      classes: [
        { class: "B", properties: null },
        {
          class: "A",
          description: "d",
          vectorizer: "none",
          shardingConfig: { desiredCount: 3 },
          properties: [
            { name: "p", dataType: ["text"], indexInverted: false },
            { name: "r", dataType: ["B", "A"] },
          ],
        },
      ],
    });
    const [a, b] = readClasses(text);
    expect(a).toMatchObject({ name: "A", description: "d", shards: 3 });
    expect(a?.properties).toEqual([
      { name: "p", dataType: ["text"], description: "", isIndexed: false },
      { name: "r", dataType: ["B", "A"], description: "", isIndexed: true },
    ]);
    expect(b).toMatchObject({ name: "B", vectorizer: "none", properties: [], shards: undefined });
    expect(a?.properties.map(({ dataType }) => isReferenceType(dataType))).toEqual([false, true]);
    expect(readClasses('{"classes":null}')).toEqual([]);
  });
});

describe("objects", () => {
  const list = (properties: object) =>
    readObjects(JSON.stringify({ objects: [{ class: "A", id: U, creationTimeUnix: 1, properties, vector: [] }] }));

  it("are read from a list", () => {
    expect(list({ a: 1 })[0]).toMatchObject({ id: U, className: "A", createdAt: 1, updatedAt: undefined });
    expect(list({ a: 1 })[0]?.vector).toBeUndefined();
    expect(readObjects('{"objects":null}')).toEqual([]);
  });

  it("have a line for people, however long their values are", () => {
    const [object] = list({
      a: "x",
      none: null,
      tags: ["t", "u"],
      geo: { latitude: 1.5, longitude: 2 },
      ref: [{}, {}],
    });
    expect(object && summaryOf(object, [])).toBe("a: x · tags: t, u · geo: 1.5, 2 · ref: 2 ×");
    const order = ["ref:B", "geo:geoCoordinates", "gone:int"].map((text) => {
      const [name = "", type = ""] = text.split(":");
      return { name, dataType: [type], description: "", isIndexed: true };
    });
    expect(object && summaryOf(object, order)).toBe("geo: 1.5, 2 · a: x · tags: t, u · ref: 2 ×");
    const [long] = list({ a: "y".repeat(500), b: "z".repeat(500) });
    expect((long ? summaryOf(long, [], 100) : "").length).toBeLessThanOrEqual(100);
  });
});
