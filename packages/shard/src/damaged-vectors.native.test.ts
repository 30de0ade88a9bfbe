import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MemoryStore } from "@shoal/kv";
import { seededRandom } from "@shoal/seeded-random";
import { createVectorIndex, loadVectorIndex } from "@shoal/vector-index";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rowKey } from "./key-layout.js";
import type { RoomBounds, Shard } from "./shard.js";
import { book, INDEX_CONFIG, idOf, ShardUnderTest } from "./testing/shard-under-test-suite.js";

const DIMENSIONS = 128;
const OBJECTS = 9_000;
const RECORD_BYTES = 16 + 4 * DIMENSIONS;
const OPTIONS = {
  vectorIndexes: { create: createVectorIndex, load: loadVectorIndex },
  // All vectors in the file of the snapshot.
  vectorIndexConfig: { ...INDEX_CONFIG, ef: 400, maxConnections: 16, efConstruction: 64, vectorCacheMaxObjects: 0 },
};
const ROOM: RoomBounds = { hasRoom: () => true, mayReload: true };

describe("a vector that is damaged in its file", () => {
  let under: ShardUnderTest;
  let shard: Shard;
  const vectors: Float32Array[] = [];
  beforeEach(async () => {
    const random = seededRandom(41);
    const centres = Array.from({ length: 30 }, () => Array.from({ length: DIMENSIONS }, () => random.next() - 0.5));
    vectors.length = 0;
    for (let at = 0; at < OBJECTS; at++) {
      const centre = centres[at % centres.length] ?? [];
      vectors.push(Float32Array.from(centre, (value) => value + 0.3 * (random.next() - 0.5)));
    }
    under = await ShardUnderTest.create(new MemoryStore());
    shard = await under.open(OPTIONS);
    for (let from = 0; from < OBJECTS; from += 1_000) {
      const part = vectors.slice(from, from + 1_000);
      await shard.putObjects(
        part.map((vector, at) => book(idOf(from + at), [...vector])),
        "create",
      );
    }
    await shard.linked();
    await shard.snapshot();
    expect(shard.statistics().vectors?.resident).toBeLessThan(OBJECTS / 2);
  });
  afterEach(async () => {
    await shard[Symbol.asyncDispose]();
    await under[Symbol.asyncDispose]();
  });

  /** In place: the index has the file open. */
  async function damage(...rows: readonly number[]): Promise<void> {
    const folder = dirname(under.path("vectors.snapshot"));
    const name = (await readdir(folder)).find((file) => file.endsWith(".rows")) ?? "";
    const bytes = await readFile(join(folder, name));
    for (const row of rows) bytes.fill(7, row * RECORD_BYTES, (row + 1) * RECORD_BYTES);
    await writeFile(join(folder, name), bytes, { flag: "r+" });
  }

  const nearest = async (at: number) => {
    const [hit] = await shard.searchByVector({
      vector: vectors[at] ?? new Float32Array(),
      count: 1,
      fields: undefined,
    });
    return hit?.id;
  };

  it("is taken from the object's row by the search that meets it, and by a rebuild", async () => {
    await damage(100, 101, 102, 103);
    const found = await Promise.all([100, 100, 101, 102].map(nearest));
    expect(found).toEqual([100, 100, 101, 102].map(idOf));
    expect(under.damages()).toEqual(["vector", "vector", "vector"]);
    await damage(2_000, 4_000);
    await Promise.all(Array.from({ length: 20 }, (_, at) => shard.deleteObject(idOf(500 + at))));
    await shard.makeRoom(ROOM);
    expect(shard.statistics().vectors).toMatchObject({ count: OBJECTS - 20, deadRows: 0 });
    expect(under.damages()).toHaveLength(6);
    for (const at of [100, 101, 103, 2_000, 4_000, 8_000]) expect(await nearest(at)).toBe(idOf(at));
    await shard.snapshot();
    shard = await under.open(OPTIONS);
    expect(under.recovered()).toMatchObject({ rebuilt: [] });
    for (const at of [100, 103, 4_000]) expect(await nearest(at)).toBe(idOf(at));
  });

  it("is reported as lost where the row is damaged, too", async () => {
    await damage(300);
    const store = under.store as MemoryStore;
    const key = rowKey(idOf(300));
    await store.write([{ type: "put", key, value: Buffer.from("nothing") }], { sync: true });
    await shard.makeRoom(ROOM);
    expect(under.damages()).toEqual(["vector", "row"]);
    await expect(nearest(5_000)).rejects.toMatchObject({
      code: "dataLoss",
      message: expect.stringContaining(idOf(300)),
    });
    await shard.deleteObject(idOf(300));
    expect(await nearest(5_000)).toBe(idOf(5_000));
  });

  it("is an error where the whole file is", async () => {
    await damage(...Array.from({ length: 2_000 }, (_, at) => at));
    for (let round = 0; round < 150; round++) {
      const all = { vector: vectors[round] ?? new Float32Array(), count: 200, fields: undefined };
      await shard.searchByVector(all).catch((error: unknown) => expect(error).toMatchObject({ code: "dataLoss" }));
    }
    expect(under.damages().length).toBeLessThanOrEqual(1_000);
    expect(shard.condition().status).toBe("ready");
    shard = await under.open(OPTIONS);
    expect(await nearest(1_500)).toBe(idOf(1_500));
  });
});
