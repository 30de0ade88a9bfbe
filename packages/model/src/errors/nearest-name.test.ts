import { describe, expect, it } from "vitest";
import { closeName, editDistance, nearestName } from "./nearest-name.js";

/** The same distance as its definition says it, over all ways. */
function slowDistance(a: string, b: string): number {
  if (a === "" || b === "") return a.length + b.length;
  const [x = "", y = ""] = a;
  const [z = "", w = ""] = b;
  const ways = [
    slowDistance(a.slice(1), b) + 1,
    slowDistance(a, b.slice(1)) + 1,
    slowDistance(a.slice(1), b.slice(1)) + (x === z ? 0 : 1),
  ];
  if (a.length > 1 && b.length > 1 && x === w && y === z) ways.push(slowDistance(a.slice(2), b.slice(2)) + 1);
  return Math.min(...ways);
}

/** All words over two letters of at most that length. */
function words(length: number): readonly string[] {
  return length === 0 ? [""] : ["", ...words(length - 1).flatMap((word) => [`a${word}`, `b${word}`])];
}

describe("editDistance", () => {
  it("is the least number of slips, for all pairs of short words", () => {
    const all = [...new Set(words(4))];
    expect(all).toHaveLength(31);
    for (const a of all) for (const b of all) expect(editDistance(a, b), `${a} ${b}`).toBe(slowDistance(a, b));
  });

  it.each([
    ["ISSUER", "ISUER", 1],
    ["ISSUER", "ISSEUR", 1],
    ["abc", "xyz", 3],
  ])("from %s to %s is %d", (a, b, distance) => expect(editDistance(a, b)).toBe(distance));
});

describe("nearestName", () => {
  const known = [
    { name: "query_defaults.limit", alsoWritten: ["QUERY_DEFAULTS_LIMIT", "limit"] },
    { name: "persistence.dataPath", alsoWritten: ["PERSISTENCE_DATA_PATH", "dataPath"] },
    { name: "port", alsoWritten: ["PORT"] },
  ];

  it.each([
    ["query_default.limit", "query_defaults.limit"],
    ["persistence.data_path", "persistence.dataPath"],
    ["DATA-PATH", "persistence.dataPath"],
    ["QUERY_DEFAULTS_LIMIT", "query_defaults.limit"],
    ["prot", "port"],
    ["x".repeat(100_000), "query_defaults.limit"],
  ])("of %s is %s", (written, nearest) => {
    if (written.length < 1_000) expect(nearestName(written, known)).toBe(nearest);
    else expect(known.map(({ name }) => name)).toContain(nearestName(written, known));
  });

  it("is nothing where nothing is known", () => {
    expect(nearestName("x", [])).toBeUndefined();
  });
});

describe("closeName", () => {
  const names = ["Article", "Author", "Category", "wordCount", "title", "id"];

  it.each<[string, string | undefined]>([
    ["Artcle", "Article"],
    ["article", "Article"],
    ["Articles", "Article"],
    ["Auhtor", "Author"],
    ["word_count", "wordCount"],
    ["titel", "title"],
    ["Zebra", undefined],
    ["Car", undefined],
    ["", undefined],
    ["x", undefined],
    ["_", undefined],
    ["x".repeat(100_000), undefined],
  ])("of %s is %s", (written, close) => expect(closeName(written, names)).toBe(close));

  it("is not the name itself, and none of very many", () => {
    expect(closeName("title", ["title"])).toBeUndefined();
    expect(
      closeName(
        "nameX",
        Array.from({ length: 100_000 }, (_, i) => `name${i}`),
      ),
    ).toBeUndefined();
  });
});
