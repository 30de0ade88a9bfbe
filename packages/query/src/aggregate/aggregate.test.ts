import { type AggregateQuery, ShoalError } from "@shoal/model";
import { plainAggregate } from "@shoal/model/testing/plain-aggregate";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { aggregateQuery, allOf, engineOver, GROUPABLE, PROPERTIES, randomObject } from "./testing/plain-world.js";

const context = { deadline: Number.POSITIVE_INFINITY };
const ASKABLE = PROPERTIES.map(({ name }) => name).filter((name) => name !== "place" && name !== "call");

describe("aggregations over shards", () => {
  test.each([1, 2, 5])("%i shards answer what one loop over all objects does", async (shardCount) => {
    const random = seededRandom(300 + shardCount);
    for (let round = 0; round < 150; round++) {
      const objects = Array.from({ length: random.below(60) }, () => randomObject(random));
      const shards = Array.from({ length: shardCount }, (_, at) => objects.filter((__, of) => of % shardCount === at));
      const wanted = ASKABLE.filter(() => random.next() < 0.3).map((name) => allOf(name, random.below(5)));
      const groupBy = random.next() < 0.6 ? [random.pick(GROUPABLE)] : undefined;
      const limit = random.next() < 0.5 ? undefined : random.below(5);
      const query = aggregateQuery({ properties: wanted, groupBy, limit });
      const { engine } = engineOver(shards);
      const result = await engine.aggregate(query, context);
      expect({ query, result }).toEqual({ query, result: plainAggregate(objects, PROPERTIES, query) });
    }
  });

  test("the sum does not depend on which shard an object is in", async () => {
    const random = seededRandom(9);
    const objects = Array.from({ length: 200 }, () => ({
      price: (random.next() - 0.5) * 10 ** Math.floor(random.next() * 40 - 20),
    }));
    const query = aggregateQuery({ properties: [allOf("price")] });
    const results = new Set<string>();
    for (let round = 0; round < 20; round++) {
      const shards: { price: number }[][] = [[], [], [], []];
      for (const object of objects) shards[random.below(4)]?.push(object);
      results.add(JSON.stringify(await engineOver(shards).engine.aggregate(query, context)));
    }
    expect(results.size).toBe(1);
  });

  test("no object: no groups, and nothing but zeros without groups", async () => {
    const { engine } = engineOver([[], []]);
    expect(await engine.aggregate(aggregateQuery({ groupBy: ["name"] }), context)).toEqual([]);
    const properties = [allOf("age"), allOf("name"), allOf("isOpen"), allOf("born"), allOf("owner")];
    const none = { minimum: undefined, maximum: undefined };
    expect(await engine.aggregate(aggregateQuery({ properties }), context)).toEqual([
      {
        groupedBy: undefined,
        objectCount: 0,
        properties: [
          { kind: "numbers", count: 0, sum: 0, mean: undefined, median: undefined, mode: undefined, ...none },
          { kind: "texts", count: 0, topOccurrences: [] },
          { kind: "booleans", count: 0, totalTrue: 0, totalFalse: 0 },
          { kind: "dates", count: 0, ...none },
          { kind: "references", count: 0 },
        ],
      },
    ]);
  });

  test("one shard is told that it is the only one; several get their part of the bytes", async () => {
    const one = engineOver([[]], { aggregateBytesMax: 8000 });
    await one.engine.aggregate(aggregateQuery({ groupBy: ["name"], limit: 7 }), context);
    expect(one.asked[0]?.aggregation).toMatchObject({ isWhole: true, groupsMax: 7, bytesMax: 8000 });
    const many = engineOver(
      Array.from({ length: 16 }, () => []),
      { aggregateBytesMax: 8000 },
    );
    await many.engine.aggregate(aggregateQuery({ groupBy: ["name"] }), context);
    expect(many.asked[15]?.aggregation).toMatchObject({ isWhole: false, groupsMax: 100, bytesMax: 2000 });
    await many.engine.aggregate(aggregateQuery({ groupBy: ["name"], limit: -1 }), context);
    expect(many.asked[16]?.aggregation).toMatchObject({ groupsMax: 100 });
  });
});

async function refusalOf(change: Partial<AggregateQuery>, shardCount = 2): Promise<string> {
  const { engine, asked } = engineOver(Array.from({ length: shardCount }, () => []));
  try {
    return JSON.stringify(await engine.aggregate(aggregateQuery(change), context));
  } catch (thrown) {
    expect(asked).toEqual([]);
    return thrown instanceof ShoalError ? `${thrown.code}: ${thrown.message}` : String(thrown);
  }
}

describe("refused aggregations", () => {
  test.each<[Partial<AggregateQuery>, string]>([
    [
      { className: "Nobody" },
      "invalid: could not find class 'Nobody' in the schema: create it with POST /v1/schema first",
    ],
    [
      { groupBy: ["owner", "Person", "name"] },
      'invalid: groupBy goes along no references: it must name one property, got ["owner","Person","name"]',
    ],
    [{ groupBy: ["owner"] }, "invalid: groupBy: property 'owner' holds references, by which nothing can be grouped"],
    [{ groupBy: ["place"] }, "invalid: groupBy: property 'place' is geoCoordinates, by which nothing can be grouped"],
    [{ groupBy: ["call"] }, "invalid: groupBy: property 'call' is phoneNumber, by which nothing can be grouped"],
    [{ groupBy: ["photo"] }, "invalid: groupBy: property 'photo' is blob, by which nothing can be grouped"],
    [{ groupBy: [] }, 'invalid: groupBy must name one property, as in ["name"], got []'],
    [
      { groupBy: ["owner", "Person"] },
      'invalid: groupBy must name one property, as in ["name"], got ["owner","Person"]',
    ],
    [{ groupBy: ["name"], limit: -2 }, "invalid: limit must be 0 or more, got -2"],
    [
      { properties: [allOf("gone")] },
      "invalid: no such prop with name 'gone' found in class 'Shop' in the schema: it has name, story, tags, age, price, marks, isOpen, flags, born, days, …",
    ],
    [
      { properties: [allOf("place")] },
      "invalid: property 'place' of class 'Shop' is geoCoordinates, of which there are no figures",
    ],
    [
      { properties: [{ ...allOf("name"), numbers: true }] },
      "invalid: property 'name' of class 'Shop' is string, which has no minimum, maximum, sum and mean of numbers",
    ],
    [
      { properties: [{ ...allOf("isOpen"), distribution: true }] },
      "invalid: property 'isOpen' of class 'Shop' is boolean, which has no median and mode",
    ],
    [
      { properties: [allOf("name", -1)] },
      "invalid: property 'name' of class 'Shop': the limit of topOccurrences must be 0 or more, got -1",
    ],
    [{ groupBy: ["nobody"] }, "[]"],
    [{ groupBy: ["name"], limit: 0 }, "[]"],
    [{ limit: -1 }, '[{"objectCount":0,"properties":[]}]'],
  ])("%j", async (change, text) => {
    expect(await refusalOf(change)).toBe(text);
  });

  test("a shard's message is passed on with its name, and the other shards are called off", async () => {
    const { engine, asked } = engineOver([[], []], {
      result: async ({ shard, context: { signal } }) => {
        if (shard.shardName === "s1") throw new ShoalError("dataLoss", "column of 'age' is damaged");
        return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      },
    });
    const failing = engine.aggregate(aggregateQuery({ properties: [allOf("age")] }), context);
    await expect(failing).rejects.toMatchObject({
      code: "dataLoss",
      message: "shard 's1' of class 'Shop': column of 'age' is damaged",
    });
    expect(asked[0]?.context.signal?.aborted).toBe(true);
  });

  test("groups and texts of all shards together have a bound", async () => {
    const objects = Array.from({ length: 100 }, (_, at) => ({ name: `name ${at}` }));
    const shards = [objects.slice(0, 50), objects.slice(50)];
    const properties = [allOf("name")];
    const { engine } = engineOver(shards, { aggregateBytesMax: 5000 });
    const message = "groups and distinct values take more than 5000 bytes of memory (AGGREGATE_BYTES_MAX)";
    for (const query of [aggregateQuery({ properties }), aggregateQuery({ groupBy: ["name"] })]) {
      await expect(engine.aggregate(query, context)).rejects.toMatchObject({ code: "tooLarge", message });
    }
    const roomy = engineOver(shards, { aggregateBytesMax: 20_000 });
    expect(await roomy.engine.aggregate(aggregateQuery({ groupBy: ["name"] }), context)).toHaveLength(100);
  });

  test("a long merge yields, and ends when nobody waits any more", async () => {
    const shards = [0, 1].map((of) =>
      Array.from({ length: 30_000 }, (_, at) => ({ name: `n${at * 2 + of}`, price: at })),
    );
    const { engine } = engineOver(shards, { aggregateBytesMax: 1e9 });
    const query = aggregateQuery({ groupBy: ["name"], limit: 1e9 });
    let iterations = 0;
    const ticking = setInterval(() => iterations++, 0);
    expect(await engine.aggregate(query, context)).toHaveLength(60_000);
    clearInterval(ticking);
    expect(iterations).toBeGreaterThan(2);
    const stop = new AbortController();
    const stopped = engineOver(shards, {
      aggregateBytesMax: 1e9,
      result: async ({ shard }) => {
        setImmediate(() => stop.abort(new ShoalError("deadlineExceeded", "too late")));
        return (
          shards[shard.shardName === "s0" ? 0 : 1]?.map(({ name }) => ({
            groupedBy: name,
            objectCount: 1,
            properties: [],
          })) ?? []
        );
      },
    });
    const failing = stopped.engine.aggregate(query, { ...context, signal: stop.signal });
    await expect(failing).rejects.toMatchObject({ code: "deadlineExceeded" });
  });
});
