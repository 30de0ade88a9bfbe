import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInvertedIndex, DocumentSet, IndexMemory, type InvertedIndex } from "@shoal/inverted-index";
import { openRocksStore } from "@shoal/kv";
import type { DataObject, ObjectId, ShardFilter } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { createVectorIndex, loadVectorIndex } from "@shoal/vector-index";
import { bench, describe } from "vitest";
import type { InvertedIndexSite } from "./object-index.js";
import { openShard } from "./open-shard.js";
import { RowCacheBudget } from "./row-cache-budget.js";
import type { Shard } from "./shard.js";
import type { ShardEvent } from "./shard-events.js";
import { INDEX_CONFIG } from "./testing/shard-under-test-suite.js";

// CPU µs (user and system, all threads) per operation; run by `vitest bench --run packages/shard/`.
// SHARD_BENCH_OBJECTS: how many objects; SHARD_BENCH_SKIP=1: without a vector index, SHARD_BENCH_INDEX=0: without an inverted
// one, to see the shard alone.
const OBJECTS = Number(process.env.SHARD_BENCH_OBJECTS ?? 20_000);
const SKIP = process.env.SHARD_BENCH_SKIP === "1";
const HAS_INDEX = process.env.SHARD_BENCH_INDEX !== "0";
const DIMENSIONS = 100;
const ROW_CACHE_BYTES = Number(process.env.SHARD_BENCH_CACHE ?? 0);
const once = { time: 0, iterations: 1, warmupTime: 0, warmupIterations: 0, throws: true };
const PROPERTIES = { properties: true, vector: false, extras: false };

async function measure(name: string, operations: number, run: () => Promise<unknown>): Promise<void> {
  const before = process.cpuUsage();
  const started = performance.now();
  await run();
  const used = process.cpuUsage(before);
  const wall = ((performance.now() - started) * 1000) / operations;
  const cpu = (used.user + used.system) / operations;
  console.log(`${name.padEnd(44)} ${cpu.toFixed(1).padStart(8)} CPU µs ${wall.toFixed(1).padStart(8)} wall µs`);
}

async function closedLoop(width: number, count: number, step: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await step(next++);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

function idAt(index: number): ObjectId {
  const mixed = (Math.imul(index, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
  return `${mixed}-1111-4222-8333-${index.toString(16).padStart(12, "0")}` as ObjectId;
}

const CLASS_PROPERTIES = [
  { name: "category", dataType: ["string"] },
  { name: "price", dataType: ["int"] },
  { name: "rank", dataType: ["int"] },
  { name: "text", dataType: ["text"] },
];

const NO_INDEX: InvertedIndex = {
  configure: () => {},
  plan: async () => ({ batch: [], applied: () => {}, failed: () => {} }),
  matching: () => new DocumentSet(),
  test: () => undefined,
  aggregate: () => [],
  memoryBytes: 0,
  [Symbol.dispose]: () => {},
};

const random = seededRandom(7);
const randomVector = () => Float32Array.from({ length: DIMENSIONS }, () => random.next() - 0.5);

function objectAt(index: number): DataObject {
  const properties = { category: `c${index % 10}`, price: index * 3, rank: index, text: `the word number ${index}` };
  return { id: idAt(index), className: "Word", properties, vector: randomVector(), extras: undefined };
}

describe("shard", () => {
  bench(
    "CPU per operation",
    async () => {
      const folder = await mkdtemp(join(process.env.SHOAL_BENCH_FOLDER ?? tmpdir(), "shoal-shard-bench-"));
      const store = await openRocksStore({ folder: join(folder, "kv"), ballastBytes: 0 });
      const events: ShardEvent[] = [];
      const options = {
        store,
        folder: join(folder, "snapshots"),
        className: "Word",
        shardName: "s1",
        vectorIndexConfig: { ...INDEX_CONFIG, skip: SKIP },
        dimensions: undefined,
        vectorIndexes: { create: createVectorIndex, load: loadVectorIndex },
        properties: CLASS_PROPERTIES,
        createIndex: (site: InvertedIndexSite) =>
          HAS_INDEX ? createInvertedIndex({ ...site, memory: new IndexMemory(96 << 20) }) : NO_INDEX,
        clock: () => Date.now(),
        onEvent: (event: ShardEvent) => events.push(event),
        rowCache: new RowCacheBudget(ROW_CACHE_BYTES),
      };
      const shard = await openShard(options);
      await measureImport(shard);
      await measureReads(shard);
      await measureWrites(shard);
      await measure("close (once)", 1, async () => shard[Symbol.asyncDispose]());
      let again: Shard | undefined;
      await measure("open after a clean close (once)", 1, async () => {
        again = await openShard(options);
      });
      await again?.[Symbol.asyncDispose]();
      console.log(JSON.stringify(events.filter((event) => event.type !== "snapshotWritten")));
      await store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
      console.log(`resident ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`);
    },
    once,
  );
});

async function measureImport(shard: Shard): Promise<void> {
  const batches = Array.from({ length: OBJECTS / 100 }, (_, batch) =>
    Array.from({ length: 100 }, (_, at) => objectAt(batch * 100 + at)),
  );
  await measure("import, 100 a batch (an object)", OBJECTS, async () => {
    for (const batch of batches) await shard.putObjects(batch, "upsert");
  });
  await measure("linking what is left (an object)", OBJECTS, () => shard.linked());
  await measure("snapshot (once)", 1, () => shard.snapshot());
}

async function measureReads(shard: Shard): Promise<void> {
  const ids = Array.from({ length: 20_000 }, () => idAt(random.below(OBJECTS)));
  const idsAt = (index: number) => ids[index % ids.length] ?? idAt(0);
  await closedLoop(16, 20_000, (at) => shard.getObjects([idsAt(at)], PROPERTIES));
  for (const width of [1, 4, 16]) {
    await measure(`get, ${width} at once`, 20_000, () =>
      closedLoop(width, 20_000, (at) => shard.getObjects([idsAt(at)], PROPERTIES)),
    );
  }
  await measure("get with vector, 16 at once", 20_000, () =>
    closedLoop(16, 20_000, (at) => shard.getObjects([idsAt(at)], { ...PROPERTIES, vector: true })),
  );
  await measure("get of 10, 16 at once (a call)", 5_000, () =>
    closedLoop(16, 5_000, (at) => shard.getObjects(ids.slice(at * 2, at * 2 + 10), PROPERTIES)),
  );
  let found = 0;
  await measure("hasObject", 200_000, async () => {
    for (let at = 0; at < 200_000; at++) found += shard.hasObject(idsAt(at)) ? 1 : 0;
  });
  if (found !== 200_000) throw new Error("objects are missing");
  for (const [order, limit] of [
    ["newest", 25],
    ["id", 25],
    ["id", 100],
  ] as const) {
    await measure(`list ${order} ${limit}, 16 at once`, 2_000, () =>
      closedLoop(16, 2_000, (at) =>
        shard.listObjects({ order, after: order === "id" ? idsAt(at) : undefined, limit, fields: PROPERTIES }),
      ),
    );
  }
  if (HAS_INDEX) await measureFilters(shard);
  if (SKIP) return;
  const queries = Array.from({ length: 2_000 }, randomVector);
  for (const fields of [undefined, PROPERTIES]) {
    await measure(`search 10${fields ? " with rows" : ""}, 16 at once`, 2_000, () =>
      closedLoop(16, 2_000, (at) => shard.searchByVector({ vector: queries[at] ?? randomVector(), count: 10, fields })),
    );
  }
}

async function measureFilters(shard: Shard): Promise<void> {
  const category = { operator: "Equal", property: "category", value: { kind: "string", values: ["c3"] } } as const;
  const rankBelow = (share: number): ShardFilter => {
    const value = { kind: "int", values: [Math.round(OBJECTS * share)] } as const;
    return { operator: "LessThan", property: "rank", value };
  };
  const filters: readonly (readonly [string, ShardFilter])[] = [
    ["a tenth, by word", category],
    ["a tenth, by range", rankBelow(0.1)],
    ["a thousandth, by range", rankBelow(0.001)],
    ["both", { operator: "And", operands: [category, rankBelow(0.5)] }],
  ];
  for (const [name, filter] of filters) {
    const listing = { order: "id", after: undefined, limit: 10, filter, fields: PROPERTIES } as const;
    await measure(`list 10 of ${name}, 16 at once`, 2_000, () =>
      closedLoop(16, 2_000, () => shard.listObjects(listing)),
    );
    if (SKIP) continue;
    const queries = Array.from({ length: 1_000 }, randomVector);
    const search = { count: 10, fields: undefined, filter };
    await measure(`search 10 of ${name}, 16 at once`, 1_000, () =>
      closedLoop(16, 1_000, (at) => shard.searchByVector({ ...search, vector: queries[at] ?? randomVector() })),
    );
  }
}

async function measureWrites(shard: Shard): Promise<void> {
  const count = 4_000;
  for (const width of [1, 16]) {
    const fresh = Array.from({ length: count }, (_, at) => objectAt(OBJECTS * (width + 1) + at));
    const write = (name: string, step: (at: number) => Promise<unknown>) =>
      measure(`${name}, ${width} at once`, count, async () => {
        await closedLoop(width, count, step);
        await shard.linked();
      });
    await write("create", (at) => shard.putObjects(fresh.slice(at, at + 1), "create"));
    const changed = fresh.map((object) => ({ ...object, properties: { ...object.properties, rank: 1 } }));
    await write("replace, same vector", (at) => shard.putObjects(changed.slice(at, at + 1), "replace"));
    const moved = changed.map((object) => ({ ...object, vector: randomVector() }));
    await write("replace, other vector", (at) => shard.putObjects(moved.slice(at, at + 1), "replace"));
    const set = { rank: 5 };
    await write("merge", (at) =>
      shard.mergeObject({ id: fresh[at]?.id ?? idAt(0), set, clear: [], append: {}, remove: {}, vector: undefined }),
    );
    await write("delete", (at) => shard.deleteObject(fresh[at]?.id ?? idAt(0)));
  }
}
