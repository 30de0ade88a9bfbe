import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { seededRandom } from "@shoal/seeded-random";
import { createVectorIndex, DamagedVector, loadVectorIndex, type VectorIndex } from "@shoal/vector-index";
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
const HOUR_MS = 3_600_000;

/** Has a result come again, later: as of a search on a slow thread that had read what was repaired since. */
class LateResults {
  #late: DamagedVector | undefined;
  #isDue = false;

  around(index: VectorIndex): VectorIndex {
    const search = async (...call: Parameters<VectorIndex["search"]>) => {
      const late = this.#isDue ? this.#late : undefined;
      this.#isDue = false;
      if (late !== undefined) throw late;
      return index.search(...call).catch((error: unknown) => {
        if (error instanceof DamagedVector) this.#late = error;
        throw error;
      });
    };
    return new Proxy(index, {
      get: (_, name) => {
        if (name === "search") return search;
        const member: unknown = Reflect.get(index, name, index);
        return typeof member === "function" ? member.bind(index) : member;
      },
    });
  }

  /** With the next search. */
  comesAgain(): void {
    expect(this.#late).toBeInstanceOf(DamagedVector);
    this.#isDue = true;
  }
}

describe("a vector that is damaged in its file", () => {
  let under: ShardUnderTest;
  let shard: Shard;
  let results: LateResults;
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
    results = new LateResults();
    shard = await under.open({
      ...OPTIONS,
      vectorIndexes: {
        create: (...call) => results.around(createVectorIndex(...call)),
        load: loadVectorIndex,
      },
    });
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

  it("is repaired once, whatever tells of it late", async () => {
    await damage(100);
    expect(await nearest(100)).toBe(idOf(100));
    const mended = { damages: ["vector"], vectors: shard.statistics().vectors };
    expect(mended.vectors).toMatchObject({ count: OBJECTS, deadRows: 1 });
    const state = () => ({ damages: under.damages(), vectors: shard.statistics().vectors });
    results.comesAgain();
    expect(await nearest(100)).toBe(idOf(100));
    await shard.linked();
    expect(state()).toMatchObject({ damages: ["vector"], vectors: { count: OBJECTS, deadRows: 1 } });
    // The object has another vector since.
    await shard.putObjects([book(idOf(100), [...(vectors[5_000] ?? [])])], "upsert");
    results.comesAgain();
    expect([idOf(100), idOf(5_000)]).toContain(await nearest(5_000));
    expect(state()).toMatchObject({ damages: ["vector"], vectors: { count: OBJECTS, deadRows: 2 } });
    // There is another index since, in which all rows may have other places.
    await shard.makeRoom(ROOM);
    results.comesAgain();
    expect(await nearest(8_000)).toBe(idOf(8_000));
    expect(state()).toMatchObject({ damages: ["vector"], vectors: { count: OBJECTS, deadRows: 0 } });
    await Promise.all(Array.from({ length: 6_000 }, (_, at) => shard.deleteObject(idOf(500 + at))));
    await shard.makeRoom({ hasRoom: () => false, mayReload: true });
    expect(under.events.filter(({ type }) => type === "vectorsReloaded")).toHaveLength(1);
    results.comesAgain();
    expect(await nearest(8_000)).toBe(idOf(8_000));
    expect(state()).toMatchObject({ damages: ["vector"], vectors: { count: OBJECTS - 6_000, deadRows: 0 } });
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
    expect(under.damages()).toHaveLength(1_000);
    expect(shard.condition().status).toBe("ready");
    // So many an hour, however long the process runs, and whatever becomes of its clock.
    under.nowUnix += HOUR_MS - 1;
    await expect(nearest(1_990)).rejects.toMatchObject({ code: "dataLoss" });
    expect(under.damages()).toHaveLength(1_000);
    under.nowUnix += 1;
    expect(await nearest(1_990)).toBe(idOf(1_990));
    expect(under.damages().length).toBeGreaterThan(1_000);
    shard = await under.open(OPTIONS);
    expect(await nearest(1_500)).toBe(idOf(1_500));
  });
});
