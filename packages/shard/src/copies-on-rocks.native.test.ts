import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openRocksStore } from "@shoal/kv";
import type { ObjectId } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { createVectorIndex, loadVectorIndex } from "@shoal/vector-index";
import { expect, it } from "vitest";
import { touchedRange } from "./key-layout.js";
import { CopyUnderTest } from "./testing/copies-under-test-suite.js";
import { ALL_FIELDS, book, INDEXES, idOf } from "./testing/shard-under-test-suite.js";

const DIMENSIONS = 24;
const [[, createIndex] = []] = INDEXES;

it("copies on RocksDB with graphs are the same after a divergence, and load their snapshots", async () => {
  const folder = await mkdtemp(join(tmpdir(), "copies-"));
  const random = seededRandom(5);
  const create = async (name: string) => {
    const store = await openRocksStore({ folder: join(folder, name), ballastBytes: 0 });
    const options = { vectorIndexes: { create: createVectorIndex, load: loadVectorIndex } };
    const copy = await CopyUnderTest.create(`${name}/1`, options, createIndex, store);
    await copy.open();
    return copy;
  };
  const a = await create("a");
  const b = await create("b");
  const change = async (copy: CopyUnderTest, changes: number) => {
    for (let at = 0; at < changes; at += 20) {
      const objects = Array.from({ length: 20 }, () => {
        const vector = Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
        return book(idOf(random.below(900)), vector, { n: random.below(50) });
      });
      await copy.shard
        .putObjects(objects, "upsert")
        .catch((error: Error) => expect(error.message).toMatch("nobody knows"));
      for (let left = 4; left > 0; left--)
        await copy.shard.deleteObject(idOf(random.below(900))).catch(() => undefined);
    }
  };
  const expectEqual = async () => {
    const listing = { order: "id", after: undefined, limit: 1_000, fields: ALL_FIELDS } as const;
    expect(await a.shard.listObjects(listing)).toEqual(await b.shard.listObjects(listing));
    for (let round = 0; round < 20; round++) {
      const vector = Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
      const value = { kind: "int", values: [random.below(50)] } as const;
      const filter = { operator: random.pick(["LessThan", "GreaterThan"] as const), property: "n", value };
      expect(await a.shard.matchingIds(filter, 1_000)).toEqual(await b.shard.matchingIds(filter, 1_000));
      for (const search of [
        { vector, count: 10, fields: undefined },
        { vector, count: 10, fields: undefined, filter },
      ]) {
        const [one, other] = [await a.shard.searchByVector(search), await b.shard.searchByVector(search)];
        const missing = one.filter(({ id }) => !other.some((hit: { readonly id: ObjectId }) => hit.id === id));
        expect(missing.length).toBeLessThanOrEqual(1);
      }
    }
  };

  a.followers = [b];
  await change(a, 400);
  await a.shard.snapshot();
  await b.shard.snapshot();
  await expectEqual();
  a.abandons = true;
  await change(a, 100);
  b.epoch = 2;
  await change(b, 100);
  a.abandons = false;
  expect(await a.catchUpWith(b, 20_000)).toBe(true);
  await expectEqual();
  for await (const chunk of a.under.store.scan(touchedRange())) expect(chunk).toEqual([]);
  b.followers = [a];
  await change(b, 100);
  await a.close();
  await a.open();
  expect(a.under.recovered()).toMatchObject({ rebuilt: [], replayedChanges: 0 });
  await expectEqual();
  await change(b, 100);
  await a.open();
  expect(a.under.recovered()).toMatchObject({ rebuilt: [], replayedChanges: expect.any(Number) });
  await expectEqual();
  for (const copy of [a, b]) {
    expect(copy.under.damages()).toEqual([]);
    await copy.close();
    await copy[Symbol.asyncDispose]();
  }
  await rm(folder, { recursive: true });
});
