import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { nearest } from "./testing/memory-shards.js";
import { byId, context, DIMENSIONS, engineOver, getQuery, NOTHING, ROWS, uuid, world } from "./testing/memory-world.js";

describe.each([1, 2, 5])("over %i shards", (shardCount) => {
  const objects = world(shardCount, 400);
  const { engine } = engineOver(objects, shardCount);
  const sorted = [...objects].sort(byId);

  test("a plain Get is ordered by id over all shards and takes 100 rows", async () => {
    const rows = await engine.get(getQuery({}), context);
    expect(rows.map(({ id }) => id)).toEqual(sorted.slice(0, 100).map(({ id }) => id));
  });

  test.each([
    [3, 0],
    [10, 95],
    [50, 390],
    [0, 5],
    [5, 1000],
  ])("limit %i offset %i", async (limit, offset) => {
    const rows = await engine.get(getQuery({ limit, offset }), context);
    expect(rows.map(({ id }) => id)).toEqual(sorted.slice(offset, offset + limit).map(({ id }) => id));
  });

  test("an offset alone, and limit -1, take the default limit", async () => {
    const expected = sorted.slice(7, 32).map(({ id }) => id);
    expect((await engine.get(getQuery({ offset: 7 }), context)).map(({ id }) => id)).toEqual(expected);
    expect((await engine.get(getQuery({ offset: 7, limit: -1 }), context)).map(({ id }) => id)).toEqual(expected);
  });

  test("nearVector agrees with brute force at every page, with and without rows", async () => {
    const random = seededRandom(99);
    for (const [limit, offset] of [
      [10, 0],
      [7, 20],
      [200, 100],
      [400, 0],
    ] as const) {
      const vector = Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
      const expected = nearest(objects, { vector, count: offset + limit, fields: undefined }).slice(offset);
      for (const fields of [NOTHING, ROWS]) {
        const nearVector = { vector, certainty: undefined };
        const rows = await engine.get(getQuery({ nearVector, limit, offset, fields }), context);
        expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        expect(rows.map(({ certainty }) => certainty)).toEqual(
          expected.map((hit) => Math.fround(1 - hit.distance / 2)),
        );
        expect(rows.every(({ object }) => (object === undefined) === (fields === NOTHING))).toBe(true);
      }
    }
  });

  test("the certainty minimum cuts the page, it does not refill it", async () => {
    const vector = Float32Array.of(1, 0, 0, 0);
    const all = nearest(objects, { vector, count: 50, fields: undefined });
    const certainty = Math.fround(1 - (all[20]?.distance ?? 0) / 2);
    const rows = await engine.get(getQuery({ nearVector: { vector, certainty }, limit: 50 }), context);
    expect(rows.map(({ id }) => id)).toEqual(all.slice(0, 21).map(({ id }) => id));
  });

  test("a certainty as it is printed lets through what it was printed of", async () => {
    const vector = Float32Array.of(1, 0, 0, 0);
    const all = nearest(objects, { vector, count: 50, fields: undefined });
    for (const [at, { distance }] of all.entries()) {
      const certainty = printed(Math.fround(1 - distance / 2));
      const rows = await engine.get(getQuery({ nearVector: { vector, certainty }, limit: 50 }), context);
      expect(rows.length).toBeGreaterThan(at);
    }
  });

  test("a list is newest first, then by id", async () => {
    const expected = [...objects].sort((a, b) => b.creationTimeUnix - a.creationTimeUnix || byId(a, b));
    const list = await engine.list(
      { className: undefined, after: undefined, limit: 60, offset: 30, fields: ROWS },
      context,
    );
    expect(list.map(({ id }) => id)).toEqual(expected.slice(30, 90).map(({ id }) => id));
  });

  test("a list with after walks the ids, also from one that is not there", async () => {
    const after = uuid(seededRandom(5));
    const list = await engine.list({ className: "Word", after, limit: 9, offset: undefined, fields: ROWS }, context);
    const expected = sorted.filter(({ id }) => id > after).slice(0, 9);
    expect(list.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  });

  test("an object is its own nearest neighbour", async () => {
    const object = objects[17];
    for (const near of [
      { id: object?.id, beacon: undefined },
      { id: undefined, beacon: `weaviate://localhost/${object?.id}` },
    ]) {
      const rows = await engine.get(getQuery({ nearObject: { ...near, certainty: undefined }, limit: 1 }), context);
      expect(rows[0]?.id).toBe(object?.id);
      expect(rows[0]?.certainty).toBeCloseTo(1, 5);
    }
  });
});

/** The shortest decimal of a float32. */
function printed(value: number): number {
  const precisions = Array.from({ length: 9 }, (_, at) => Number(value.toPrecision(at + 1)));
  return precisions.find((candidate) => Math.fround(candidate) === value) ?? value;
}
