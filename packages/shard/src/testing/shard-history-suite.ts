import { join } from "node:path";
import { createInvertedIndex, IndexMemory } from "@shoal/inverted-index";
import { openRocksStore } from "@shoal/kv";
import type { ObjectId } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { createVectorIndex, loadVectorIndex } from "@shoal/vector-index";
import { openShard, type ShardOptions } from "../open-shard.js";
import type { Shard } from "../shard.js";
import { book, INDEX_CONFIG, idOf, PROPERTIES } from "./shard-under-test-suite.js";

export const OBJECTS = 600;
export const NOW = Date.UTC(2026, 0, 31, 10, 15);

/** All states that an object ever had, by id; undefined: it was deleted. */
export type ShardHistory = Map<ObjectId, (number | undefined)[]>;

/** A shard with the folders of a storage node; `onStoreClosed` sees them as a kill would leave them: the shard is not closed. */
export async function withShard(
  folder: string,
  use: (shard: Shard) => Promise<void>,
  onStoreClosed?: () => void,
  options: Partial<ShardOptions> = {},
): Promise<void> {
  const store = await openRocksStore({ folder: join(folder, "rows"), ballastBytes: 0 });
  try {
    const shard = await openShard({
      store,
      folder: join(folder, "views"),
      className: "Book",
      shardName: "s1",
      vectorIndexConfig: INDEX_CONFIG,
      dimensions: undefined,
      vectorIndexes: { create: createVectorIndex, load: loadVectorIndex },
      properties: PROPERTIES,
      createIndex: (site) => createInvertedIndex({ ...site, memory: new IndexMemory(1 << 24) }),
      clock: () => NOW,
      onEvent: () => {},
      ...options,
    });
    try {
      await use(shard);
      if (onStoreClosed === undefined) return;
      await store[Symbol.asyncDispose]();
      onStoreClosed();
    } finally {
      await shard[Symbol.asyncDispose]();
    }
  } finally {
    await store[Symbol.asyncDispose]();
  }
}

export const vectorOf = (n: number) =>
  Array.from(
    { length: 4 },
    (
      (random) => () =>
        random.below(2001) - 1000
    )(seededRandom(n)),
  );
export const objectOf = (id: ObjectId, n: number) =>
  book(id, vectorOf(n), { n, title: `word${n % 7} ${"x".repeat(n % 300)}` });

/** Makes and takes objects, and writes down what they were. */
export async function change(
  shard: Shard,
  history: ShardHistory,
  random: SeededRandom,
  changes: number,
  firstN: number,
): Promise<void> {
  for (let at = 0; at < changes; at += 10) {
    const puts = new Map<ObjectId, number>();
    for (let i = 0; i < 10; i++) puts.set(idOf(Math.imul(random.below(OBJECTS), 0x9e3779b1) >>> 0), firstN + at + i);
    if (random.below(4) === 0) {
      for (const id of [...puts.keys()].slice(0, 3)) {
        puts.delete(id);
        if (history.get(id)?.at(-1) === undefined) continue;
        await shard.deleteObject(id);
        history.get(id)?.push(undefined);
      }
    }
    await shard.putObjects(
      [...puts].map(([id, n]) => objectOf(id, n)),
      "upsert",
    );
    for (const [id, n] of puts) history.set(id, [...(history.get(id) ?? []), n]);
  }
}
