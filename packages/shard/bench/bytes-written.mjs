// What a shard writes to its disk (F8): an import, then bursts of changes with a rest after each, until nothing is written any more.
//   node packages/shard/bench/bytes-written.mjs [objects] [dimensions] [memtable MiB]      (after a build)
// All is `write_bytes` of this process; files of the store are looked at while they are there, the rest is snapshots.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInvertedIndex, IndexMemory } from "../../inverted-index/dist/index.js";
import { openRocksStore } from "../../kv/dist/index.js";
import { seededRandom } from "../../seeded-random/dist/index.js";
import { createVectorIndex, loadVectorIndex } from "../../vector-index/dist/index.js";
import { openShard } from "../dist/index.js";

const [objects = 80_000, dimensions = 768, memtableMib = 8] = process.argv.slice(2).map(Number);
const BATCH = 100;
const BURSTS = { count: 6, objects: 1000, restMs: 4000 };
/** Vectors have so many dimensions of their own, and lie around so many centres. */
const [OWN_DIMENSIONS, CENTRES] = [24, 100];
const IDLE_MS = 6000;

const random = seededRandom(8);
const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
const basis = Float32Array.from({ length: OWN_DIMENSIONS * dimensions }, normal);
const centres = Array.from({ length: CENTRES }, () => Float32Array.from({ length: OWN_DIMENSIONS }, normal));

function vector() {
  const centre = centres[random.below(CENTRES)];
  const out = Float32Array.from({ length: dimensions }, () => 0.3 * normal());
  for (let own = 0; own < OWN_DIMENSIONS; own++) {
    const value = centre[own] + 0.5 * normal();
    for (let at = 0; at < dimensions; at++) out[at] += value * basis[own * dimensions + at];
  }
  return out;
}

function objectAt(index) {
  const mixed = (Math.imul(index + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
  const id = `${mixed}-1111-4222-8333-${index.toString(16).padStart(12, "0")}`;
  return { id, className: "C", properties: { name: `object ${index}` }, vector: vector(), extras: undefined };
}

const folder = await mkdtemp(join(process.env.SHOAL_BENCH_FOLDER ?? tmpdir(), "shoal-bytes-written-"));
const storeFolder = join(folder, "kv");
const writeBytes = () => Number(/^write_bytes: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))[1]);

/** The largest size that each file of the store was seen with. */
const seen = new Map();
function look() {
  for (const name of readdirSync(storeFolder, { recursive: false })) {
    const size = statSync(join(storeFolder, name), { throwIfNoEntry: false })?.size ?? 0;
    seen.set(name, Math.max(size, seen.get(name) ?? 0));
  }
}
const sumOf = (ending) => [...seen].reduce((sum, [name, size]) => sum + (name.endsWith(ending) ? size : 0), 0);
const now = () => {
  look();
  return { all: writeBytes(), log: sumOf(".log"), tables: sumOf(".sst") };
};

async function untilIdle() {
  for (let before = -1, since = performance.now(); performance.now() - since < IDLE_MS; ) {
    if (writeBytes() !== before) [before, since] = [writeBytes(), performance.now()];
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function measure(what, rawBytes, run) {
  const before = now();
  await run();
  await untilIdle();
  const after = now();
  const parts = { all: after.all - before.all, log: after.log - before.log, tables: after.tables - before.tables };
  parts.snapshots = parts.all - parts.log - parts.tables;
  const text = Object.entries(parts).map(([name, bytes]) => `${name} ${(bytes / 1e6).toFixed(0)} MB`);
  console.log(`${what.padEnd(8)} ${text.join(", ")}; ${(parts.all / rawBytes).toFixed(2)} x the vectors`);
}

const store = await openRocksStore({ folder: storeFolder, writeBufferBytes: memtableMib * 2 ** 20, ballastBytes: 0 });
const shard = await openShard({
  ...{ store, folder, className: "C", shardName: "s1", dimensions: undefined },
  vectorIndexConfig: {
    ...{ skip: false, cleanupIntervalSeconds: 300, maxConnections: 64, efConstruction: 128, ef: -1 },
    ...{ vectorCacheMaxObjects: 2_000_000, flatSearchCutoff: 40_000 },
  },
  vectorIndexes: { create: createVectorIndex, load: loadVectorIndex },
  properties: [{ name: "name", dataType: ["text"] }],
  createIndex: (site) => createInvertedIndex({ ...site, memory: new IndexMemory(96 * 2 ** 20) }),
  clock: () => Date.now(),
  onEvent: (event) => {
    if (event.type === "snapshotFailed") console.error(event.error);
  },
});
const looking = setInterval(look, 20);
const put = (indexes) => shard.putObjects(indexes.map(objectAt), "upsert");
try {
  await measure("import", objects * dimensions * 4, async () => {
    for (let first = 0; first < objects; first += BATCH) await put(Array.from({ length: BATCH }, (_, i) => first + i));
  });
  await measure("bursts", BURSTS.count * BURSTS.objects * dimensions * 4, async () => {
    for (let burst = 0; burst < BURSTS.count; burst++) {
      for (let done = 0; done < BURSTS.objects; done += BATCH) {
        await put(Array.from({ length: BATCH }, () => random.below(objects)));
      }
      await new Promise((resolve) => setTimeout(resolve, BURSTS.restMs));
    }
  });
} finally {
  clearInterval(looking);
  await shard[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}
