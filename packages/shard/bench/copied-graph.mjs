// What a full copy costs the copy that is made anew, with the vector index of its primary and without it.
//   node packages/shard/bench/copied-graph.mjs [objects] [dimensions]      (after a build)
// CPU is that of this process while the copy takes rows, and graph, until everything is linked; the primary has read them before.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInvertedIndex, IndexMemory } from "../../inverted-index/dist/index.js";
import { openRocksStore } from "../../kv/dist/index.js";
import { INCOMPLETE } from "../../replication/dist/index.js";
import { seededRandom } from "../../seeded-random/dist/index.js";
import { createVectorIndex, loadVectorIndex } from "../../vector-index/dist/index.js";
import { openShard } from "../dist/index.js";

const [objects = 20_000, dimensions = 100] = process.argv.slice(2).map(Number);
const BATCH = 500;
const [ROWS_BYTES, PIECE_BYTES] = [4 << 20, 1 << 20];

const random = seededRandom(8);
const vectorIndexConfig = {
  ...{ skip: false, cleanupIntervalSeconds: 300, maxConnections: 64, efConstruction: 128, ef: -1 },
  ...{ vectorCacheMaxObjects: 500_000, flatSearchCutoff: 40_000 },
};
const folder = await mkdtemp(join(process.env.SHOAL_BENCH_FOLDER ?? tmpdir(), "shoal-copied-graph-"));

async function open(name) {
  const store = await openRocksStore({ folder: join(folder, name, "kv"), ballastBytes: 0 });
  let end = { epoch: 1, sequence: 0 };
  const carrier = {
    begin: () => 1,
    carry: async (changes, write) => {
      end = { epoch: 1, sequence: end.sequence + changes.length };
      const epochs = [{ epoch: 1, first: 1 }];
      await write({ since: 1, acceptedEpoch: 1, end, epochs, base: end.sequence, through: 0 });
    },
  };
  const memory = new IndexMemory(1 << 26);
  const shard = await openShard({
    ...{ store, folder: join(folder, name), className: "C", shardName: "s", vectorIndexConfig, dimensions: undefined },
    vectorIndexes: { create: createVectorIndex, load: loadVectorIndex },
    properties: [{ name: "name", dataType: ["text"] }],
    createIndex: (site) => createInvertedIndex({ ...site, memory }),
    clock: () => Date.now(),
    onEvent: () => undefined,
    copy: { name: `${name}/1`, since: 1, carrier },
  });
  return { shard, store };
}

const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
const primary = await open("primary");
for (let from = 0; from < objects; from += BATCH) {
  const batch = Array.from({ length: Math.min(BATCH, objects - from) }, (_, at) => ({
    id: `8d7e3a1c-0000-4000-8000-${(from + at).toString(16).padStart(12, "0")}`,
    ...{ className: "C", properties: { name: `object ${from + at}` }, extras: undefined },
    vector: Float32Array.from({ length: dimensions }, normal),
  }));
  await primary.shard.putObjects(batch, "upsert");
}
await primary.shard.linked();

const pieces = [];
const graph = await primary.shard.copy.openGraph();
for (let piece = await graph.next(PIECE_BYTES); piece !== undefined; piece = await graph.next(PIECE_BYTES))
  pieces.push(piece);
await graph.close();
const pages = [];
const cursor = await primary.shard.copy.openRows({ after: 0, isFull: true, documents: [] });
for (let isLast = false; !isLast; isLast = pages.at(-1).isLast) pages.push(await cursor.next(ROWS_BYTES));
const { end, epochs } = primary.shard.copy.state;
const rowBytes = pages.flatMap(({ rows }) => rows).reduce((sum, { row }) => sum + row.length, 0);
const graphBytes = pieces.reduce((sum, { length }) => sum + length, 0);
console.log(`${objects} objects of ${dimensions} dimensions: rows ${rowBytes} bytes, graph ${graphBytes} bytes`);

for (const round of [1, 2, 3]) {
  for (const withGraph of [false, true]) {
    const { shard, store } = await open(`learner-${round}-${withGraph}`);
    const [before, began] = [process.cpuUsage(), performance.now()];
    if (withGraph) {
      for (const [at, piece] of pieces.entries()) await shard.copy.takeGraph(at, piece, at === pieces.length - 1);
    }
    for (const [at, { rows, isLast, sequence }] of pages.entries()) {
      const state = { ...shard.copy.state, acceptedEpoch: 1, end: { epoch: 0, sequence: 0 }, epochs: [], base: 0 };
      const next = isLast
        ? { ...state, end, epochs, base: end.sequence, through: sequence }
        : { ...state, through: INCOMPLETE };
      await shard.copy.writeRows(next, { rows, cutAfter: 0, isFull: at === 0 });
    }
    await shard.linked();
    const { user, system } = process.cpuUsage(before);
    const seconds = ((performance.now() - began) / 1_000).toFixed(2);
    console.log(
      `${withGraph ? "with" : "without"} the graph: CPU ${((user + system) / 1e6).toFixed(2)} s, ${seconds} s`,
    );
    await shard[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  }
}
await primary.shard[Symbol.asyncDispose]();
await primary.store[Symbol.asyncDispose]();
await rm(folder, { recursive: true });
