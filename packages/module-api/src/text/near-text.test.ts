import type { JsonObject } from "@shoal/model";
import { describe, expect, it } from "vitest";
import type { SearchWorld } from "../search-argument.js";
import { NEAR_TEXT } from "./near-text.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };

/** Texts are vectors of their lengths; objects are known by one letter. */
const WORLD: SearchWorld = {
  definition: undefined,
  vectorOfTexts: async (texts) => Float32Array.of(texts.length, ...texts.slice(0, 1).map((text) => text.length), 1),
  vectorOfObject: async ({ id, beacon }) => Float32Array.of((beacon ?? id ?? "").charCodeAt(0), 0, 8),
};

const vector = async (value: JsonObject) => [...(await NEAR_TEXT.vector(value, WORLD, CONTEXT))];

describe("nearText", () => {
  it("is the vector of its concepts", async () => {
    expect(await vector({ concepts: ["car", "x"] })).toEqual([2, 3, 1]);
  });

  it("moves to a target by half the force, then away from another", async () => {
    const [v, t] = [
      [1, 3, 1],
      [1, 7, 1],
    ];
    const to = (force: number) => v.map((one, i) => one * (1 - force / 2) + (t[i] ?? 0) * (force / 2));
    const moveTo = { concepts: ["vehicle"], force: 0.5 };
    expect(await vector({ concepts: ["car"], moveTo })).toEqual(to(0.5));
    const from = [1, 1, 1];
    const away = to(0.5).map((one, i) => one + (3 / 2) * (one - (from[i] ?? 0)));
    expect(await vector({ concepts: ["car"], moveTo, moveAwayFrom: { concepts: ["x"], force: 3 } })).toEqual(away);
  });

  it("takes the mean of all concepts together and each object for a target; of id and beacon the world decides", async () => {
    const objects = [{ id: "a" }, { id: "b", beacon: "c" }];
    const mean = [(2 + 97 + 99) / 3, 7 / 3, (1 + 8 + 8) / 3];
    const expected = [1, 3, 1].map((one, i) => one / 2 + (mean[i] ?? 0) / 2);
    const moved = await vector({ concepts: ["car"], moveTo: { concepts: ["vehicle", "x"], objects, force: 1 } });
    for (const [i, number] of moved.entries()) expect(number).toBeCloseTo(expected[i] ?? 0, 5);
  });

  it.each([0, -1])("is not moved by a force of %d, whatever is missing", async (force) => {
    expect(await vector({ concepts: ["car"], moveTo: { force }, moveAwayFrom: { force } })).toEqual([1, 3, 1]);
  });

  it.each([
    [{ moveTo: { force: 1 } }, "nearText.moveTo needs concepts or objects to move to or away from, and has neither"],
    [
      { moveAwayFrom: { force: 1, concepts: [] } },
      "nearText.moveAwayFrom needs concepts or objects to move to or away from, and has neither",
    ],
    [{ moveTo: { concepts: ["x"], force: 1.5 } }, "nearText: moveTo: force must be from 0 to 1, got 1.5"],
  ])("refuses %j", async (movement, message) => {
    await expect(vector({ concepts: ["car"], ...movement })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining(message),
    });
  });

  it("tells its texts and takes others for them", () => {
    const value = { concepts: ["a", "b"], certainty: 0.5 };
    expect(NEAR_TEXT.texts(value)).toEqual([
      { location: "nearText.concepts[0]", text: "a" },
      { location: "nearText.concepts[1]", text: "b" },
    ]);
    expect(NEAR_TEXT.withTexts(value, ["c", "d"])).toEqual({ concepts: ["c", "d"], certainty: 0.5 });
    expect(Object.keys(NEAR_TEXT.input({ autocorrect: false }).fields)).not.toContain("autocorrect");
    expect(Object.keys(NEAR_TEXT.input({ autocorrect: true }).fields)).toContain("autocorrect");
  });
});
