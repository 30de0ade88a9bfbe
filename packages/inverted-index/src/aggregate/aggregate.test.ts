import { ShoalError } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { AggregateWorld, type PlainObject } from "./testing/aggregate-world.js";
import { comparable, expectedResult } from "./testing/comparable.js";
import { allOf, PROPERTIES, randomObject, UNINDEXED } from "./testing/shop.js";

const ALL = [...PROPERTIES, ...UNINDEXED];
const GROUPABLE = ALL.filter(({ name }) => name !== "photo" && name !== "owner");

/** New objects, changed ones and deleted ones; documents far apart, so that chunks and blocks differ. */
async function change(world: AggregateWorld, random: SeededRandom): Promise<void> {
  const documents = new Set(Array.from({ length: 1 + random.below(8) }, () => random.below(40) * 211));
  await world.put(
    [...documents].map((document) => [document, random.next() < 0.2 ? undefined : randomObject(random)] as const),
  );
}

function objectsOf(world: AggregateWorld): readonly PlainObject[] {
  return Array.from(world.objects.values(), ({ properties }) => properties);
}

async function check(world: AggregateWorld, random: SeededRandom): Promise<void> {
  const asked = {
    properties: ALL.filter(() => random.next() < 0.2).map((definition) => allOf(definition, random.below(4))),
    groupBy: random.next() < 0.6 ? random.pick(GROUPABLE).name : undefined,
    isWhole: random.next() < 0.5,
    groupsMax: random.below(6),
  };
  const filtered = random.next() < 0.5 ? [...world.objects.keys()].filter(() => random.next() < 0.5) : undefined;
  const result = await world.aggregate(asked, filtered);
  const objects = filtered?.map((document) => world.objects.get(document)?.properties ?? {}) ?? objectsOf(world);
  expect({ asked, result: comparable(result) }).toEqual({ asked, result: expectedResult(objects, ALL, asked) });
}

describe("aggregations of a shard", () => {
  test.each([1, 2, 3])("agree with a plain loop over its objects, seed %i", async (seed) => {
    const random = seededRandom(seed);
    const world = new AggregateWorld(ALL);
    for (let round = 0; round < 100; round++) {
      await change(world, random);
      await check(world, random);
      await check(world, random);
      if (random.next() < 0.15) world.reopen(random.next() < 0.5 ? 1000 : Number.POSITIVE_INFINITY);
    }
    expect(world.objects.size).toBeGreaterThan(5);
  });

  test("an empty shard", async () => {
    const world = new AggregateWorld(ALL);
    const properties = ALL.map((definition) => allOf(definition, 3));
    const asked = { properties, groupBy: undefined, isWhole: true, groupsMax: 1 };
    expect(comparable(await world.aggregate(asked))).toEqual(expectedResult([], ALL, asked));
    expect(await world.aggregate({ groupBy: "name" })).toEqual([]);
  });

  test("figures of blocks follow every change", async () => {
    const random = seededRandom(77);
    const world = new AggregateWorld(ALL);
    const price = PROPERTIES.filter(({ name }) => name === "price").map((definition) => allOf(definition, 0));
    const asked = { properties: price, groupBy: undefined, isWhole: true, groupsMax: 1 };
    for (let round = 0; round < 60; round++) {
      await change(world, random);
      expect(comparable(await world.aggregate(asked))).toEqual(expectedResult(objectsOf(world), ALL, asked));
    }
  });

  test("what is in memory is answered at once, and no rows are read for it", async () => {
    const world = new AggregateWorld(ALL);
    const objects = Array.from({ length: 50 }, (_, at): [number, PlainObject] => [
      at,
      { category: `c${at % 3}`, age: at, isOpen: at % 2 === 0, born: "2020-01-01T00:00:00Z", flags: [true, true] },
    ]);
    await world.put(objects);
    const properties = ALL.filter(({ name }) => objects[0]?.[1][name] !== undefined).map((one) => allOf(one, 2));
    for (const groupBy of [undefined, "category", "age", "born", "flags"]) {
      expect(world.aggregate({ groupBy, properties })).not.toBeInstanceOf(Promise);
      expect(world.aggregate({ groupBy, properties }, [1, 2, 3])).not.toBeInstanceOf(Promise);
    }
    expect(world.rowsRead).toBe(0);
  });

  test("of dates with a zone only the earliest and the latest are read from rows", async () => {
    const world = new AggregateWorld(ALL);
    await world.put(
      Array.from({ length: 50 }, (_, at) => [at, { born: `2020-01-01T00:00:${10 + at}+02:00` }] as const),
    );
    const born = PROPERTIES.filter(({ name }) => name === "born").map((definition) => allOf(definition, 0));
    expect(await world.aggregate({ properties: born })).toMatchObject([
      {
        properties: [
          { minimum: { text: "2020-01-01T00:00:10+02:00" }, maximum: { text: "2020-01-01T00:00:59+02:00" } },
        ],
      },
    ]);
    expect(world.rowsRead).toBe(2);
  });

  test("an object that goes while rows are read does not count", async () => {
    const world = new AggregateWorld(ALL);
    await world.put([0, 1].map((document) => [document, { noteAside: `n${document}` }] as const));
    const note = UNINDEXED.slice(0, 1).map((definition) => allOf(definition, 5));
    const asked = world.aggregate({ properties: note });
    world.objects.delete(0);
    expect(comparable(await asked)).toMatchObject([{ properties: [{ count: 1, distinct: [["n1", 1]] }] }]);
  });
});

async function refusal(run: () => unknown): Promise<string> {
  try {
    await run();
    return "accepted";
  } catch (thrown) {
    return thrown instanceof ShoalError ? `${thrown.code}: ${thrown.message}` : String(thrown);
  }
}

/** Keys of records that name the property. */
async function keysWith(world: AggregateWorld, property: string): Promise<readonly Uint8Array[]> {
  const keys: Uint8Array[] = [];
  for await (const entries of world.memoryStore.scan({ gte: Uint8Array.of(0), lt: Uint8Array.of(255) })) {
    for (const { key } of entries) if (Buffer.from(key).includes(property)) keys.push(key);
  }
  return keys;
}

describe("refusals of a shard", () => {
  const numbers = { numbers: true, distribution: false, topOccurrences: undefined, dates: false, booleans: false };

  test("a property that has no figures", async () => {
    const world = new AggregateWorld([
      { name: "place", dataType: ["geoCoordinates"] },
      { name: "call", dataType: ["phoneNumber"] },
    ]);
    for (const name of ["place", "call"]) {
      const text = `invalid: property '${name}' has no index: either its indexInverted is false, or values of its data type are not indexed`;
      expect(await refusal(() => world.aggregate({ properties: [{ ...numbers, name }] }))).toBe(text);
      expect(await refusal(() => world.aggregate({ groupBy: name }))).toBe(text);
    }
  });

  test("a property that this shard does not know yet", async () => {
    const world = new AggregateWorld([]);
    expect(await refusal(() => world.aggregate({ properties: [{ ...numbers, name: "late" }] }))).toBe(
      "unavailable: property 'late' is not known here yet: the node follows the schema",
    );
    expect(await world.aggregate({ groupBy: "late" })).toEqual([]);
  });

  test("a damaged record of the property, named; others are answered", async () => {
    const world = new AggregateWorld(ALL);
    await world.put([[0, { age: 1, name: "one", price: 2 }]]);
    const damaged = [...(await keysWith(world, "age")), ...(await keysWith(world, "name"))];
    expect(damaged.length).toBeGreaterThan(1);
    for (const key of damaged) world.memoryStore.damage(key, (bytes) => bytes.fill(0xff, 4));
    world.reopen();
    const [age, name, price] = ["age", "name", "price"].map((one) =>
      PROPERTIES.filter((definition) => definition.name === one).map((definition) => allOf(definition, 3)),
    );
    const text = /^dataLoss: the index of property '(age|name)' in shard 's1' of class 'Thing' is damaged: /;
    expect(await refusal(() => world.aggregate({ properties: age ?? [] }))).toMatch(text);
    expect(await refusal(() => world.aggregate({ properties: name ?? [] }))).toMatch(text);
    expect(await refusal(() => world.aggregate({ groupBy: "age" }))).toMatch(text);
    expect(await refusal(() => world.aggregate({ properties: price ?? [] }))).toBe("accepted");
  });

  test("groups and values beyond the bytes; few of many are answered where no other shard has a say", async () => {
    const world = new AggregateWorld(ALL);
    await world.put(Array.from({ length: 2000 }, (_, at) => [at, { name: `name ${at}`, price: at / 7 }] as const));
    const [name, price] = ["name", "price"].map((one) =>
      PROPERTIES.filter((definition) => definition.name === one).map((definition) => allOf(definition, 3)),
    );
    const text =
      "tooLarge: groups and distinct values take more than 20000 bytes of memory (a shard's part of AGGREGATE_BYTES_MAX)";
    const bytesMax = 20_000;
    expect(await refusal(() => world.aggregate({ groupBy: "name", bytesMax }))).toBe(text);
    expect(await refusal(() => world.aggregate({ properties: name ?? [], bytesMax }))).toBe(text);
    expect(await refusal(() => world.aggregate({ properties: price ?? [], bytesMax }))).toBe(text);
    expect(await world.aggregate({ groupBy: "name", isWhole: true, groupsMax: 3, bytesMax })).toHaveLength(3);
    expect(await refusal(() => world.aggregate({ properties: name ?? [], isWhole: true, bytesMax }))).toBe("accepted");
  });

  test("what is held is counted for the process, too", async () => {
    const world = new AggregateWorld(ALL);
    await world.put([[0, { name: "one" }]]);
    let held = 0;
    const rowBytes = { add: (bytes: number) => (held += bytes) };
    await world.aggregate({ groupBy: "name" }, undefined, { rowBytes });
    expect(held).toBeGreaterThan(100);
  });

  test("a long one yields and ends when nobody waits any more", async () => {
    const world = new AggregateWorld(ALL);
    await world.put(Array.from({ length: 60_000 }, (_, at) => [at, { name: `name ${at}`, age: at }] as const));
    const stop = new AbortController();
    const properties = ALL.filter(({ name }) => name === "age").map((definition) => allOf(definition, 3));
    const asked = world.aggregate({ groupBy: "name", properties }, undefined, { signal: stop.signal });
    expect(asked).toBeInstanceOf(Promise);
    stop.abort(new ShoalError("deadlineExceeded", "too late"));
    await expect(asked).rejects.toMatchObject({ code: "deadlineExceeded" });
  });
});
