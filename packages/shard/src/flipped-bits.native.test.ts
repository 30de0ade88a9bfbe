import { cp, mkdtemp, open, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInvertedIndex, IndexMemory } from "@shoal/inverted-index";
import { type KeyValueStore, openRocksStore } from "@shoal/kv";
import { type ObjectId, type ShardFilter, ShoalError } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { createVectorIndex, loadVectorIndex } from "@shoal/vector-index";
import { describe, expect, it } from "vitest";
import { IndexBeingBuilt } from "./object-index.js";
import { openShard } from "./open-shard.js";
import type { Shard } from "./shard.js";
import { ALL_FIELDS, book, INDEX_CONFIG, idOf, PROPERTIES, propertiesOf } from "./testing/shard-under-test-suite.js";

const OBJECTS = 400;
const ROUNDS = Number(process.env.SHARD_FLIP_ROUNDS ?? 40);
const SEED = Number(process.env.SHARD_SEED ?? 1);

async function withShard(folder: string, use: (shard: Shard, store: KeyValueStore) => Promise<void>): Promise<void> {
  const store = await openRocksStore({ folder: join(folder, "kv"), ballastBytes: 0, writeBufferBytes: 64 * 1024 });
  try {
    const shard = await openShard({
      store,
      folder,
      className: "Book",
      shardName: "s1",
      vectorIndexConfig: INDEX_CONFIG,
      dimensions: undefined,
      vectorIndexes: { create: createVectorIndex, load: loadVectorIndex },
      properties: PROPERTIES,
      createIndex: (site) => createInvertedIndex({ ...site, memory: new IndexMemory(1 << 24) }),
      clock: () => Date.now(),
      onEvent: () => {},
    });
    try {
      await use(shard, store);
    } finally {
      await shard[Symbol.asyncDispose]();
    }
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

const objectAt = (at: number) =>
  book(idOf(Math.imul(at, 0x9e3779b1) >>> 0), [at + 1, 1, 7, (at % 5) + 1], propertiesAt(at));
const propertiesAt = (at: number) => ({ n: at, title: `word${at % 7}` });

/** Files whose damage must be noticed; RocksDB's own log texts are not read by anybody. */
async function files(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  const paths: string[] = [];
  for (const name of names.sort()) {
    if (/LOG|LOCK|IDENTITY|OPTIONS/.test(name)) continue;
    const info = await stat(join(folder, name));
    if (info.isFile() && info.size > 0) paths.push(join(folder, name));
  }
  return paths;
}

/** In every other call any file, else any byte: large files would hide the small ones, and the other way round. */
async function flipBit(paths: readonly string[], random: SeededRandom): Promise<string> {
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path)).size));
  let chosen = random.below(paths.length);
  if (random.below(2) === 0) {
    let left = random.below(sizes.reduce((sum, size) => sum + size, 0));
    chosen = sizes.findIndex((size) => {
      left -= size;
      return left < 0;
    });
  }
  const path = paths[chosen] ?? "";
  const file = await open(path, "r+");
  const at = random.below(sizes[chosen] ?? 0);
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
  await file.write(Buffer.of((buffer[0] ?? 0) ^ (1 << random.below(8))), 0, 1, at);
  await file.close();
  return `${path.slice(path.lastIndexOf("/") + 1)} byte ${at}`;
}

/**
 * `dataLoss` for a refusal that says so, also that of an index which is being rebuilt because of damage; the value
 * otherwise; anything else is a failure of the test.
 */
async function orDataLoss<T>(promise: Promise<T>): Promise<T | "dataLoss"> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof ShoalError && error.code === "dataLoss") return "dataLoss";
    if (error instanceof IndexBeingBuilt) return "dataLoss";
    throw error;
  }
}

/** Results that no object may be missing from. */
function wholeResults(shard: Shard): Promise<WholeResults> {
  const idsOf = async (found: Promise<readonly { readonly id: ObjectId }[]>) => (await found).map(({ id }) => id);
  const list = (order: "newest" | "id", limit: number) =>
    orDataLoss(idsOf(shard.listObjects({ order, after: undefined, limit, fields: ALL_FIELDS })));
  const search = { vector: Float32Array.of(1, 2, 3, 4), count: 20, fields: undefined };
  const asked = [list("newest", 10), list("id", 10), list("newest", OBJECTS + 1), list("id", OBJECTS + 1)];
  const filters = FILTERS.flatMap((filter) => [
    orDataLoss(shard.matchingIds(filter, OBJECTS)),
    orDataLoss(idsOf(shard.listObjects({ order: "id", after: undefined, limit: 9, filter, fields: ALL_FIELDS }))),
    orDataLoss(idsOf(shard.searchByVector({ ...search, filter }))),
  ]);
  return Promise.all([...asked, orDataLoss(idsOf(shard.searchByVector(search))), ...filters]);
}

const FILTERS: readonly ShardFilter[] = [
  { operator: "LessThan", property: "n", value: { kind: "int", values: [100] } },
  { operator: "GreaterThanEqual", property: "n", value: { kind: "int", values: [390] } },
  { operator: "Equal", property: "title", value: { kind: "text", values: ["word3"] } },
  { operator: "NotEqual", property: "title", value: { kind: "text", values: ["word1"] } },
];

type WholeResults = readonly (readonly ObjectId[] | "dataLoss")[];

async function expectNoWrongResult(shard: Shard, truth: WholeResults, where: string): Promise<number> {
  let refused = 0;
  for (let at = 0; at < OBJECTS; at++) {
    const { id, vector } = objectAt(at);
    const result = await orDataLoss(shard.getObjects([id], ALL_FIELDS));
    if (result === "dataLoss") {
      refused += 1;
      continue;
    }
    expect(propertiesOf(result[0]), `object ${at} after ${where}`).toEqual(propertiesAt(at));
    expect(result[0]?.vector).toEqual(vector);
  }
  for (const [at, result] of (await wholeResults(shard)).entries()) {
    if (result === "dataLoss") refused += 1;
    else expect(result, `answer ${at} after ${where}`).toEqual(truth[at]);
  }
  return refused;
}

describe("flipped bits in any file of a shard", () => {
  it(`give no wrong answer, seed ${SEED}`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "shard-flips-"));
    const intact = join(folder, "intact");
    await withShard(intact, async (shard) => {
      for (let at = 0; at < OBJECTS; at += 20) {
        await shard.putObjects(
          Array.from({ length: 20 }, (_, i) => objectAt(at + i)),
          "create",
        );
        if (at === 200) await shard.snapshot();
      }
    });
    // Opening and closing moves RocksDB's log into a table: all rows are behind checksums then.
    let truth: WholeResults = [];
    await withShard(intact, async (shard) => {
      truth = await wholeResults(shard);
    });
    const lengths = truth.map((result) => result.length);
    expect(lengths).toEqual([10, 10, OBJECTS, OBJECTS, 20, 100, 9, 20, 10, 9, 10, 57, 9, 20, 343, 9, 20]);
    const random = seededRandom(SEED);
    const seen = { notOpened: 0, refused: 0, whole: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const copy = join(folder, String(round));
      await cp(intact, copy, { recursive: true });
      const paths = await files(copy);
      const flips: string[] = [];
      for (let flip = 0; flip < 1 + random.below(8); flip++) {
        flips.push(await flipBit(paths, random));
      }
      const where = `round ${round}: ${flips.join(", ")}`;
      let opened = false;
      const run = withShard(copy, async (shard) => {
        opened = true;
        const refused = await expectNoWrongResult(shard, truth, where);
        seen[refused > 0 ? "refused" : "whole"] += 1;
      });
      await run.catch((error: unknown) => {
        if (opened || !(error instanceof ShoalError)) throw error;
        seen.notOpened += 1;
      });
      await rm(copy, { recursive: true });
    }
    console.log(`${ROUNDS} rounds: ${JSON.stringify(seen)}`);
    await rm(folder, { recursive: true });
  }, 300_000);
});
