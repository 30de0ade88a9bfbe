import { mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInvertedIndex, IndexMemory } from "@shoal/inverted-index";
import { openRocksStore } from "@shoal/kv";
import { seededRandom } from "@shoal/seeded-random";
import { createVectorIndex, loadVectorIndex } from "@shoal/vector-index";
import { describe, expect, it } from "vitest";
import { openShard } from "./open-shard.js";
import type { Shard } from "./shard.js";
import type { ShardEvent } from "./shard-events.js";
import { cosineDistance } from "./testing/brute-force-index-suite.js";
import { ALL_FIELDS, book, INDEX_CONFIG, idOf, PROPERTIES } from "./testing/shard-under-test-suite.js";

const OBJECTS = 3_000;
const DIMENSIONS = 24;

/** RocksDB and the real index in one folder. */
class Engine {
  readonly events: ShardEvent[] = [];

  constructor(
    readonly folder: string,
    readonly name = "s1",
    readonly memory = new IndexMemory(1 << 24),
  ) {}

  async run<T>(use: (shard: Shard) => Promise<T>, settings: { readonly crash?: boolean } = {}): Promise<T> {
    const store = await openRocksStore({
      folder: join(this.folder, this.name, "kv"),
      ballastBytes: 0,
      cacheBytes: 1 << 20,
      writeBufferBytes: 1 << 20,
    });
    const shard = await openShard({
      store,
      folder: join(this.folder, this.name),
      className: "Book",
      shardName: this.name,
      vectorIndexConfig: INDEX_CONFIG,
      dimensions: undefined,
      vectorIndexes: { create: createVectorIndex, load: loadVectorIndex },
      properties: PROPERTIES,
      createIndex: (site) => createInvertedIndex({ ...site, memory: this.memory }),
      clock: () => Date.now(),
      onEvent: (event) => this.events.push(event),
    });
    try {
      return await use(shard);
    } finally {
      if (!settings.crash) await shard[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    }
  }

  recovered(): (ShardEvent & { type: "recovered" }) | undefined {
    return this.events.findLast((event): event is ShardEvent & { type: "recovered" } => event.type === "recovered");
  }
}

describe("shard on RocksDB and the graph", () => {
  it("finds the same before and after restarts, crashes and rebuilds", async () => {
    const folder = await mkdtemp(join(tmpdir(), "shard-engine-"));
    const engine = new Engine(folder);
    const random = seededRandom(3);
    const vectors = new Map<number, Float32Array>();
    const randomVector = () => Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);
    const put = async (shard: Shard, from: number, to: number) => {
      for (let at = from; at < to; at += 100) {
        const page = Array.from({ length: 100 }, (_, i) => at + i);
        for (const index of page) vectors.set(index, randomVector());
        await shard.putObjects(
          page.map((index) => book(idOf(index), [...(vectors.get(index) ?? [])])),
          "upsert",
        );
      }
    };
    const queries = Array.from({ length: 20 }, randomVector);
    const recall = async (shard: Shard) => {
      let right = 0;
      for (const query of queries) {
        const hits = await shard.searchByVector({ vector: query, count: 10, fields: ALL_FIELDS });
        const exact = [...vectors].map(([index, vector]) => ({
          id: idOf(index),
          distance: cosineDistance(query, vector),
        }));
        exact.sort((a, b) => a.distance - b.distance);
        const nearest = new Set(exact.slice(0, 10).map((hit) => hit.id));
        right += hits.filter((hit) => nearest.has(hit.id)).length;
        expect(hits).toHaveLength(10);
        const some = await shard.searchByVector({ vector: query, count: 10, fields: ALL_FIELDS, rowsMax: 3 });
        expect(some.map(({ id }) => id)).toEqual(hits.map(({ id }) => id));
        expect(some.map(({ object }) => object)).toEqual(hits.map(({ object }, at) => (at < 3 ? object : undefined)));
        for (const hit of hits) {
          expect(hit.object?.vector).toEqual(vectors.get(Number.parseInt(hit.id.slice(0, 8), 16)));
          expect(hit.distance).toBeCloseTo(cosineDistance(query, hit.object?.vector ?? query), 5);
        }
      }
      return right / (queries.length * 10);
    };

    await engine.run(
      async (shard) => {
        await put(shard, 0, OBJECTS);
        expect(await recall(shard)).toBeGreaterThan(0.95);
        await shard.linked();
        await shard.snapshot();
        for (let at = 0; at < 300; at++) {
          await shard.deleteObject(idOf(at * 7));
          vectors.delete(at * 7);
        }
        await put(shard, OBJECTS, OBJECTS + 500);
      },
      { crash: true },
    );
    await engine.run(async (shard) => {
      expect(engine.recovered()).toMatchObject({ replayedChanges: 800, rebuilt: [], objectCount: vectors.size });
      expect(await recall(shard)).toBeGreaterThan(0.95);
    });
    await engine.run(async (shard) => {
      expect(engine.recovered()).toMatchObject({ replayedChanges: 0, rebuilt: [] });
      expect(await recall(shard)).toBeGreaterThan(0.95);
    });
    for (const part of ["vectors.snapshot", ".rows"]) {
      const names = await readdir(join(folder, "s1"));
      await flipMiddle(join(folder, "s1", names.find((name) => name.endsWith(part)) ?? part));
      await engine.run(async (shard) => {
        expect(engine.recovered()).toMatchObject({ rebuilt: ["vectors"], objectCount: vectors.size });
        expect(await recall(shard)).toBeGreaterThan(0.95);
        await shard.linked();
        expect(await recall(shard)).toBeGreaterThan(0.95);
      });
      await engine.run(async () => expect(engine.recovered()).toMatchObject({ replayedChanges: 0, rebuilt: [] }));
    }
    await rm(folder, { recursive: true });
  });

  it("400 shards in one process", async () => {
    const folder = await mkdtemp(join(tmpdir(), "shard-many-"));
    const before = process.memoryUsage().rss;
    const memory = new IndexMemory(1 << 24);
    const engines = Array.from({ length: 400 }, (_, at) => new Engine(folder, `shard${at}`, memory));
    let residentBytes = 0;
    const all = (next: number): Promise<void> => {
      const engine = engines[next];
      if (engine === undefined) {
        residentBytes = process.memoryUsage().rss - before;
        return Promise.resolve();
      }
      return engine.run(async (shard) => {
        await shard.putObjects([book(idOf(next), [next + 1, 1]), book(idOf(next + 1), [1, next + 2])], "create");
        await all(next + 1);
        const hits = await shard.searchByVector({ vector: Float32Array.of(next + 1, 1), count: 1, fields: undefined });
        expect(hits[0]?.id).toBe(idOf(next));
      });
    };
    await all(0);
    console.log(`400 open shards: ${(residentBytes / 400 / 1024).toFixed(0)} KiB each`);
    expect(await readdir(folder)).toHaveLength(400);
    await rm(folder, { recursive: true });
  });
});

async function flipMiddle(path: string): Promise<void> {
  const file = await open(path, "r+");
  const middle = Math.floor((await file.stat()).size / 2);
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, middle);
  await file.write(Buffer.of((buffer[0] ?? 0) ^ 16), 0, 1, middle);
  await file.close();
}
