import type { ExploreQuery } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import type { MemoryObject } from "./testing/memory-object.js";
import { nearest } from "./testing/memory-shards.js";
import { context, DIMENSIONS, engineOver, record, uuid, world } from "./testing/memory-world.js";

const explored = (change: Partial<ExploreQuery>): ExploreQuery => ({
  ...{ nearVector: undefined, nearObject: undefined, limit: undefined, offset: undefined },
  ...change,
});

/** All objects by distance, id and class. */
function sorted(objects: readonly MemoryObject[], vector: Float32Array) {
  const classes = [...new Set(objects.map(({ className }) => className))].sort();
  const hits = classes.flatMap((className) => {
    const own = objects.filter((object) => object.className === className);
    return nearest(own, { vector, count: own.length, fields: undefined }).map(({ id, distance }) => ({
      ...{ id, className, distance },
    }));
  });
  return hits.sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

describe.each([1, 2, 5])("Explore over %i shards a class", (shardCount) => {
  const random = seededRandom(shardCount);
  const twins = world(55, 20, ["Beta"]).flatMap((object) => [object, { ...object, className: "Alpha" }]);
  const objects = [...world(shardCount, 200, ["Alpha", "Beta", "Gamma"]), ...twins];
  const other = { ...record("Other"), dimensions: 3 };
  const records = [record("Gamma"), record("Skipped", true), other, record("Beta"), record("Alpha")];
  const short = { className: "Other", id: uuid(random), creationTimeUnix: 1, vector: Float32Array.of(1, 1, 1) };
  const { engine, shards } = engineOver([...objects, short], shardCount, records);
  const query = Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
  const shown = (hits: ReturnType<typeof sorted>) =>
    hits.map(({ id, className, distance }) => ({ id, className, certainty: Math.fround(1 - distance / 2) }));

  test.each([
    [undefined, undefined, 20, 0],
    [0, undefined, 20, 0],
    [-1, 3, 20, 3],
    [7, 0, 7, 0],
    [50, 30, 50, 30],
    [1000, undefined, 1000, 0],
    [5, 1000, 5, 1000],
  ])("limit %s offset %s", async (limit, offset, count, from) => {
    const nearVector = { vector: query, certainty: undefined };
    const rows = await engine.explore(explored({ nearVector, limit, offset }), context);
    expect(rows).toEqual(shown(sorted(objects, query)).slice(from, from + count));
  });

  test("the certainty minimum cuts the page", async () => {
    const all = shown(sorted(objects, query));
    for (const { certainty } of all.slice(0, 10)) {
      // Also as it is printed: with fewer digits than the float32 has as a double.
      for (const given of [certainty, Number(certainty.toPrecision(9))]) {
        const nearVector = { vector: query, certainty: given };
        const rows = await engine.explore(explored({ nearVector, limit: 10 }), context);
        expect(rows).toEqual(all.slice(0, 10).filter((row) => row.certainty >= certainty));
      }
    }
  });

  test("nearObject is looked up in all classes, and finds what its vector finds", async () => {
    const nearObject = { id: undefined, beacon: `weaviate://localhost/${short.id}`, certainty: undefined };
    const rows = await engine.explore(explored({ nearObject }), context);
    expect(rows).toEqual([{ id: short.id, className: "Other", certainty: expect.closeTo(1, 6) }]);
    const object = objects.find(({ className }) => className === "Gamma");
    const id = { id: object?.id, beacon: undefined, certainty: undefined };
    const found = await engine.explore(explored({ nearObject: id, limit: 3 }), context);
    expect(found).toEqual(shown(sorted(objects, object?.vector ?? query)).slice(0, 3));
  });

  test("no class has vectors of that length: nothing", async () => {
    const nearVector = { vector: new Float32Array(17).fill(1), certainty: undefined };
    expect(await engine.explore(explored({ nearVector }), context)).toEqual([]);
  });

  test("a shard that is down fails it, unless its class could not answer anyhow", async () => {
    const nearVector = { vector: query, certainty: undefined };
    shards.down.add("Other_s0");
    expect(await engine.explore(explored({ nearVector }), context)).toHaveLength(20);
    shards.down.clear();
    shards.down.add("Beta_s0");
    await expect(engine.explore(explored({ nearVector }), context)).rejects.toMatchObject({
      code: "unavailable",
      message: "shard 's0' of class 'Beta': shard s0 is down",
    });
    shards.down.clear();
  });

  const nearVector = { vector: query, certainty: undefined };
  const unknown = uuid(seededRandom(999));
  test.each<[Partial<ExploreQuery>, string]>([
    [{}, "Explore needs something to search for: nearVector, nearObject or the argument of a module, such as nearText"],
    [
      { nearVector, nearObject: { id: unknown, beacon: undefined, certainty: undefined } },
      "a query searches for one thing, got 'nearVector' and 'nearObject': choose one of them",
    ],
    [
      { nearObject: { id: unknown, beacon: undefined, certainty: undefined } },
      `nearObject: no object with id '${unknown}' is there, or it has no vector`,
    ],
    [
      { nearObject: { id: undefined, beacon: undefined, certainty: undefined } },
      "nearObject: it needs the id or the beacon of an object",
    ],
    [
      { nearVector: { ...nearVector, vector: new Float32Array() } },
      "the vector that is searched for is empty: give its numbers in nearVector.vector",
    ],
    [{ nearVector, limit: -2 }, "limit must be 0 or more, got -2"],
    [
      { nearVector, limit: 1, offset: 10_000 },
      "query maximum results exceeded: an offset of 10000 with a limit of 1 asks for more than 10000 rows (QUERY_MAXIMUM_RESULTS): ask for fewer",
    ],
  ])("%o is refused", async (change, message) => {
    await expect(engine.explore(explored(change), context)).rejects.toMatchObject({ code: "invalid", message });
  });
});
