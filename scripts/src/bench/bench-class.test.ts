import { describe, expect, it } from "vitest";
import { ObjectTexts, rowCategory, rowId, rowPrice } from "./bench-class.js";
import { objectRows } from "./workloads/single-object.js";

describe("rows of the benchmark", () => {
  const rows = Array.from({ length: 100_000 }, (_, row) => row);

  it("have ids of their own that are uuids of version 4", () => {
    const ids = new Set(rows.map((row) => rowId("glove", row)));
    expect(ids.size).toBe(rows.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(rowId("fashion", 1)).not.toBe(rowId("glove", 1));
  });

  it("fall into ten categories of one tenth, and one percent costs less than 10", () => {
    const categories = new Map<string, number>();
    for (const row of rows) categories.set(rowCategory(row), (categories.get(rowCategory(row)) ?? 0) + 1);
    expect(categories.size).toBe(10);
    for (const count of categories.values()) expect(Math.abs(count - 10_000)).toBeLessThan(400);
    const cheap = rows.filter((row) => rowPrice(row) < 10).length;
    expect(Math.abs(cheap - 1000)).toBeLessThan(150);
  });

  it("are written as objects of the class", () => {
    const texts = new ObjectTexts("glove", { texts: ["the", '"'], vectors: new Float32Array(200).fill(1) }, 7);
    expect(JSON.parse(texts.text(1))).toEqual({
      class: "Word",
      id: rowId("glove", 8),
      properties: { text: '"', category: rowCategory(8), rank: 8, price: rowPrice(8) },
      vector: new Array(100).fill(0.1),
    });
    expect(JSON.parse(texts.text(0, "[1]"))).toMatchObject({ vector: [1] });
  });

  it("are different ones for PUT, PATCH, DELETE and POST", () => {
    const all = (["put", "patch", "delete", "post"] as const).flatMap((verb) => objectRows(verb, 100_000, 10_000));
    expect(new Set(all).size).toBe(40_000);
    expect(new Set(objectRows("get", 100_000, 30_000)).size).toBe(30_000);
  });
});
