// What linking and searching cost, in CPU microseconds of all threads, and how much is found, on the real data:
//   node packages/vector-index/bench/recall-and-cost.mjs glove|fashion [rows]      (after a build)
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { exactNeighbours, fashionMnist, gloveWords } from "../../../e2e/data-sets/dist/index.js";
import { createVectorIndex, loadVectorIndex } from "../dist/index.js";

const QUERIES = 1000;
const SETS = {
  glove: { dimensions: 100, rows: 100_000, read: (from, count) => gloveWords({ from, count }) },
  fashion: { dimensions: 784, rows: 60_000, read: (from, count) => fashionMnist({ from, count }) },
};

const name = process.argv[2] ?? "glove";
const set = SETS[name];
if (set === undefined) throw new Error(`unknown data set '${name}': glove or fashion`);
const { dimensions } = set;
const rows = Number(process.argv[3] ?? set.rows);
const { vectors } = await set.read(0, rows);
const { vectors: queries } = await set.read(Math.max(rows, set.rows), QUERIES);
const truth = await exactNeighbours({ rows: vectors, queries, dimensions, k: 10, rowsName: name });
const settings = { dimensions, maxConnections: 64, efConstruction: 128 };
const search = {
  ef: -1,
  targetRecall: 0.98,
  flatSearchCutoff: 40_000,
  unindexedVectorsMax: 10_000,
  cleanupIntervalSeconds: 0,
};

const micros = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
const report = (what, text) => console.log(`${what.padEnd(34)} ${text}`);

/** CPU µs an operation of `run`, which does `operations` of them. */
async function measure(operations, run) {
  const before = micros();
  await run();
  return (micros() - before) / operations;
}

async function searchAll(index, connections, each, options) {
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < QUERIES; i = next++) {
      each(i, await index.search(queries.subarray(i * dimensions, (i + 1) * dimensions), 10, options(i)));
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
}

async function reportSearch(what, index, connections, options = () => undefined, wanted = truth) {
  let hits = 0;
  const count = (i, { documents }) => {
    const expected = wanted.subarray(i * 10, i * 10 + 10);
    for (const document of documents) if (expected.includes(document)) hits++;
  };
  await searchAll(index, connections, count, options);
  const cost = await measure(3 * QUERIES, async () => {
    for (let round = 0; round < 3; round++) await searchAll(index, connections, () => {}, options);
  });
  report(what, `recall@10 ${(hits / QUERIES / 10).toFixed(4)}   ${cost.toFixed(1)} us`);
}

const index = createVectorIndex(settings, search);
const link = await measure(rows, async () => {
  for (let first = 0; first < rows; first += 100) {
    const count = Math.min(100, rows - first);
    const documents = Uint32Array.from({ length: count }, (_, i) => first + i);
    index.put(documents, vectors.subarray(first * dimensions, (first + count) * dimensions), first);
    await index.settled();
  }
  await index.linked();
});
const { memoryBytes } = index.statistics();
report(`${name}, ${rows} x ${dimensions}`, `link ${link.toFixed(1)} us a vector, ${(memoryBytes / 1e6).toFixed(1)} MB`);
await reportSearch("search, 16 at once", index, 16);
await reportSearch("search, 1 at a time", index, 1);
for (const share of [0.5, 0.25, 0.1, 0.01]) {
  const allowed = new Uint32Array(Math.ceil(rows / 32));
  for (let row = 0; row < rows; row++) {
    if ((Math.imul(row, 2654435761) >>> 0) / 2 ** 32 < share) allowed[row >>> 5] |= 1 << (row & 31);
  }
  const exact = new Uint32Array(QUERIES * 10);
  index.configure({ ...search, flatSearchCutoff: 2 ** 32 - 1 });
  const keep = (i, { documents }) => exact.set(documents, i * 10);
  await searchAll(index, 16, keep, () => ({ allowed, ef: 10_000_000 }));
  index.configure(search);
  await reportSearch(`filter that allows ${share * 100} %`, index, 16, () => ({ allowed }), exact);
}
const folder = await mkdtemp(join(tmpdir(), "shoal-bench-"));
try {
  const path = join(folder, "index");
  let started = performance.now();
  await index.snapshot(path);
  const { size } = await stat(path);
  report("snapshot", `${(performance.now() - started).toFixed(0)} ms, ${(size / 1e6).toFixed(1)} MB`);
  started = performance.now();
  const loaded = await loadVectorIndex(path, settings, search);
  report("load", `${(performance.now() - started).toFixed(0)} ms`);
  await reportSearch("search after loading", loaded, 16);
  await loaded[Symbol.asyncDispose]();
} finally {
  await rm(folder, { recursive: true });
}
await index[Symbol.asyncDispose]();
