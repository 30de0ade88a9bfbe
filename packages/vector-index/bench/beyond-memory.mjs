// What an object costs in memory while its vector is in a file (H17), and what a search then costs and finds:
//   node packages/vector-index/bench/beyond-memory.mjs [rows] [dimensions] [vectorCacheMaxObjects]      (after a build)
// Vectors lie around centres in a few dimensions of their own, in noise. Everything is put in parts with snapshots between, as a shard does.
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../seeded-random/dist/index.js";
import { createVectorIndex, loadVectorIndex } from "../dist/index.js";

const [rows = 200_000, dimensions = 768, vectorCacheMaxObjects = 0] = process.argv.slice(2).map(Number);
const [OWN_DIMENSIONS, CENTRES, QUERIES, K, BATCH] = [32, 1000, 200, 10, 1000];
const settings = { dimensions, maxConnections: 64, efConstruction: 128 };
const search = {
  ...{ ef: -1, targetRecall: 0.98, flatSearchCutoff: 40_000, unindexedVectorsMax: 10_000, cleanupIntervalSeconds: 0 },
  vectorCacheMaxObjects,
};

const random = seededRandom(17);
/** Of numbers drawn before: drawing a billion would take longer than all the rest. */
const drawn = Float32Array.from(
  { length: 1 << 20 },
  () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next()),
);
const normal = () => drawn[random.below(drawn.length)];
const basis = Float32Array.from({ length: OWN_DIMENSIONS * dimensions }, normal);
const centres = Array.from({ length: CENTRES }, () => Float32Array.from({ length: OWN_DIMENSIONS }, normal));

function fill(out, at) {
  const centre = centres[random.below(CENTRES)];
  let noise = random.below(drawn.length - dimensions);
  for (let i = 0; i < dimensions; i++) out[at + i] = 0.5 * drawn[noise++];
  for (let own = 0; own < OWN_DIMENSIONS; own++) {
    const value = centre[own] + 0.6 * normal();
    const from = own * dimensions;
    for (let i = 0; i < dimensions; i++) out[at + i] += value * basis[from + i];
  }
}
function vectors(count) {
  const out = new Float32Array(count * dimensions);
  for (let row = 0; row < count; row++) fill(out, row * dimensions);
  return out;
}

const memory = () => {
  const status = readFileSync("/proc/self/status", "utf8");
  const kib = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)[1]);
  return { resident: kib("RssAnon") * 1024, most: kib("VmHWM") * 1024 };
};
const micros = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const report = (what, text) => console.log(`${what.padEnd(24)} ${text}`);

const folder = await mkdtemp(join(process.env.SHOAL_BENCH_FOLDER ?? tmpdir(), "shoal-beyond-memory-"));
const path = join(folder, "vectors.snapshot");
const queries = vectors(QUERIES);
const before = memory().resident;
const reportMemory = (what, index) => {
  globalThis.gc?.();
  const { resident, most } = memory();
  const bytes = index.statistics().memoryBytes;
  const each = (value) => `${(value / index.statistics().count).toFixed(0)} B`;
  report(
    what,
    `index ${each(bytes)}, resident ${each(resident - before)} an object; at most ${(most / 1e6).toFixed(0)} MB`,
  );
};

/** Scans, all at once: the index is asked for more than a walk would give. */
async function exact(index) {
  const truth = [];
  for (let i = 0; i < QUERIES; i++) {
    const query = queries.subarray(i * dimensions, (i + 1) * dimensions);
    truth.push((await index.search(query, K, { ef: 3000 })).documents);
  }
  return truth;
}

async function reportSearches(what, index, truth) {
  const used = micros();
  let [hits, next] = [0, 0];
  const worker = async () => {
    for (let i = next++; i < QUERIES * 5; i = next++) {
      const query = queries.subarray((i % QUERIES) * dimensions, ((i % QUERIES) + 1) * dimensions);
      const { documents } = await index.search(query, K);
      for (const document of documents) if (truth[i % QUERIES].includes(document)) hits++;
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  const cost = (micros() - used) / (QUERIES * 5);
  report(what, `recall@10 ${(hits / QUERIES / 5 / K).toFixed(4)}   ${cost.toFixed(0)} CPU us a search`);
}

let index = createVectorIndex(settings, search);
try {
  const started = micros();
  let written = 0;
  for (let first = 0; first < rows; first += BATCH) {
    index.put(
      Uint32Array.from({ length: BATCH }, (_, i) => first + i),
      vectors(BATCH),
      first + 1,
    );
    await index.settled();
    if (first - written < Math.max(10_000, first / 16)) continue;
    written = first;
    await index.snapshot(path);
  }
  await index.linked();
  await index.snapshot(path);
  report("put and linked", `${((micros() - started) / rows).toFixed(0)} CPU us an object, making vectors included`);
  reportMemory("after the import", index);
  const truth = await exact(index);
  await reportSearches("search", index, truth);
  reportMemory("after searches", index);
  await index[Symbol.asyncDispose]();
  const loading = performance.now();
  index = await loadVectorIndex(path, settings, search);
  report("load", `${(performance.now() - loading).toFixed(0)} ms`);
  reportMemory("after the load", index);
  await reportSearches("search", index, truth);
} finally {
  await index[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}
