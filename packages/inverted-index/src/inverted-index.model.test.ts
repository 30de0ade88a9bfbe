import { plainMatches } from "@shoal/model/testing/plain-filter";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { IndexWorld, type ObjectChange } from "./testing/index-world.js";
import { randomFilter, randomObject, WORLD_SCHEMA } from "./testing/random-world.js";

const ALL_IN_MEMORY = 1 << 28;
const ROUNDS = Number(process.env.SHOAL_INDEX_ROUNDS ?? 6);
const FILTERS = 40;

/** How many filters were answered document by document. */
let tested = 0;

async function expectAgreement(world: IndexWorld, random: SeededRandom, filters: number): Promise<void> {
  for (let count = 0; count < filters; count++) {
    const filter = randomFilter(random);
    const expected = [...world.objects.values()]
      .filter((object) => plainMatches(object, filter, world.properties))
      .map(({ document }) => document)
      .sort((a, b) => a - b);
    const found = await world.index.matching(filter);
    expect([...found], shown(filter)).toEqual(expected);
    const test = world.index.test(filter);
    if (test === undefined) continue;
    tested++;
    const passed = [...world.objects.keys()].filter((document) => test.passes(document));
    expect(
      passed.sort((a, b) => a - b),
      shown(filter),
    ).toEqual(expected);
    expect(test.atMost, shown(filter)).toBeGreaterThanOrEqual(expected.length);
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}n` : one));
}

/** Documents near each other, and some far away in other chunks. */
function randomDocument(random: SeededRandom): number {
  return random.next() < 0.8 ? random.below(150) : 4000 + random.below(200);
}

function randomChanges(random: SeededRandom, world: IndexWorld, time: number): ObjectChange[] {
  const documents = new Set(random.list(40, () => randomDocument(random)));
  return [...documents].map((document) => {
    const before = world.objects.get(document);
    if (before !== undefined && random.next() < 0.25) return { document, properties: undefined, time };
    const fresh = randomObject(random);
    const [name] = Object.keys(fresh);
    if (before === undefined || name === undefined || random.next() < 0.5) return { document, properties: fresh, time };
    return { document, properties: { ...before.properties, [name]: fresh[name] ?? null }, time };
  });
}

describe("an index against a plain look at every object", () => {
  it.each(Array.from({ length: ROUNDS }, (_, seed) => seed + 1))("seed %i", async (seed) => {
    const random = seededRandom(seed);
    const world = new IndexWorld(WORLD_SCHEMA, random.next() < 0.8 ? ALL_IN_MEMORY : 20_000);
    for (let step = 0; step < 12; step++) {
      const changes = randomChanges(random, world, 1000 + step);
      await world.commit(changes, random.pick(["applied", "applied", "applied", "failed", "lost"]));
      if (random.next() < 0.3) world.reopen(random.pick([ALL_IN_MEMORY, 30_000, 0]));
      await expectAgreement(world, random, FILTERS);
    }
    // What is left behind when everything is gone?
    const gone = [...world.objects.keys()].map((document) => ({ document, properties: undefined, time: 2000 }));
    await world.commit(gone);
    for await (const chunk of world.store.scan({})) expect(chunk).toEqual([]);
    expect(tested).toBeGreaterThan(0);
  });

  it("agrees while readers and writers run beside each other", async () => {
    const random = seededRandom(77);
    const world = new IndexWorld(WORLD_SCHEMA, ALL_IN_MEMORY);
    await world.commit(randomChanges(random, world, 1000));
    for (let round = 0; round < 20; round++) {
      world.reopen(ALL_IN_MEMORY);
      const reads = Array.from({ length: 10 }, () => world.index.matching(randomFilter(random)));
      await world.commit(randomChanges(random, world, 1001 + round), round % 5 === 4 ? "failed" : "applied");
      await Promise.all(reads);
      await expectAgreement(world, random, 10);
    }
  });
});
