import { rm } from "node:fs/promises";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { MemoryBudget } from "@shoal/runtime";
import { seededRandom } from "@shoal/seeded-random";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ShardOptions } from "./open-shard.js";
import type { Shard } from "./shard.js";
import { CountedIndexes } from "./testing/counted-indexes.js";
import { numberOf } from "./testing/ids-and-fields.js";
import { book, idOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

const OBJECTS = 16_000;
const DIMENSIONS = 256;
const MIB = 1024 * 1024;

describe("a vector index that is built from rows", () => {
  const random = seededRandom(21);
  const vectorOf = new Map<number, number[]>();
  const indexes = new CountedIndexes();
  let under: ShardUnderTest;
  /** What the whole index takes with all vectors in memory. */
  let whole: number;
  let mostUnderWay = 0;

  const memoryOfIndexes = (): number =>
    [...indexes.alive].reduce((sum, index) => sum + index.statistics().memoryBytes, 0);

  const budgetOf = (bytesMax: number): MemoryBudget => {
    const budget: MemoryBudget = new MemoryBudget({
      bytesMax,
      usedBytes: () => {
        mostUnderWay = Math.max(mostUnderWay, budget.underWayBytes);
        return memoryOfIndexes();
      },
      reclaim: async () => 0,
      nowMs: () => performance.now(),
    });
    return budget;
  };

  const open = (options: Partial<ShardOptions> = {}): Promise<Shard> =>
    under.open({ dimensions: DIMENSIONS, vectorIndexes: indexes, ...options });

  const close = async (shard: Shard): Promise<void> => {
    await shard[Symbol.asyncDispose]();
    await under.kill();
    await rm(under.path("vectors.snapshot"));
  };

  const expectFound = async (shard: Shard): Promise<void> => {
    expect(shard.statistics().vectors?.count).toBe(OBJECTS);
    for (const number of [0, 777, OBJECTS - 1]) {
      const vector = Float32Array.from(vectorOf.get(number) ?? []);
      const [hit] = await shard.searchByVector({ vector, count: 1, fields: undefined });
      expect(numberOf(hit?.id ?? idOf(-1))).toBe(number);
    }
  };

  beforeAll(async () => {
    under = await ShardUnderTest.create(new MemoryStore());
    const shard = await open();
    for (let from = 0; from < OBJECTS; from += 1_000) {
      const objects = Array.from({ length: 1_000 }, (_, at) => {
        const vector = Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
        vectorOf.set(from + at, vector);
        return book(idOf(from + at), vector);
      });
      await shard.putObjects(objects, "create");
    }
    await shard.linked();
    whole = memoryOfIndexes();
    await close(shard);
  }, 60_000);
  afterAll(() => under[Symbol.asyncDispose]());

  it("is counted against the budget before it takes its memory, and no longer", async () => {
    const budget = budgetOf(10 * whole);
    mostUnderWay = 0;
    const shard = await open({ memory: budget });
    expect(under.recovered()?.rebuilt).toEqual(["vectors"]);
    expect(mostUnderWay).toBeGreaterThan(whole / 2);
    expect(budget.underWayBytes).toBe(0);
    await expectFound(shard);
    await close(shard);
  });

  it("leaves vectors in a file when they would not fit", async () => {
    const budget = budgetOf(0.8 * whole + 4 * MIB);
    const shard = await open({ memory: budget });
    expect(memoryOfIndexes()).toBeLessThan(0.85 * whole);
    expect(shard.statistics().vectors?.resident).toBeLessThan(OBJECTS);
    await expectFound(shard);
    await close(shard);
  });

  it("is not built while there is no room at all, is not believed half built, and comes when there is", async () => {
    const budget = budgetOf(0.15 * whole + 4 * MIB);
    await expect(open({ memory: budget })).rejects.toMatchObject({
      code: "unavailable",
      retryAfterSeconds: 10,
      message: expect.stringMatching(
        /^shard 's1' of class 'Book' has no room to build its vector index from the rows: .*MEMORY_BUDGET_BYTES/,
      ),
    });
    expect(budget.underWayBytes).toBe(0);
    expect(memoryOfIndexes()).toBe(0);
    const shard = await open({ memory: budgetOf(10 * whole) });
    expect(under.recovered()?.rebuilt).toEqual(["vectors"]);
    await expectFound(shard);
    await shard[Symbol.asyncDispose]();
  });
});
