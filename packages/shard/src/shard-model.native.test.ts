import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInvertedIndex, IndexMemory } from "@shoal/inverted-index";
import { type KeyValueStore, openRocksStore } from "@shoal/kv";
import { FaultScript } from "@shoal/kv/testing/fault-script";
import { FaultyStore } from "@shoal/kv/testing/faulty-store";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { IdPresenceFilter } from "./id-presence-filter.js";
import { indexRecord } from "./index-record.js";
import type { ShardOptions } from "./open-shard.js";
import type { Shard } from "./shard.js";
import { ModelRun, OBJECT_BYTES_MAX, OTHER } from "./testing/model-run-suite.js";
import { book, ShardUnderTest } from "./testing/shard-under-test-suite.js";

const limits = {
  snapshotChangesMin: 30,
  snapshotChangesFraction: 0,
  snapshotQuietMs: 60_000,
  objectBytesMax: OBJECT_BYTES_MAX,
};

/** The real one, with much memory or little, or one that is itself an oracle: if both fail, it is the shard. */
function indexFor(seed: number): Pick<ShardOptions, "createIndex"> | undefined {
  if (seed % 4 === 3) return undefined;
  const memory = new IndexMemory(seed % 4 === 0 ? 1 << 24 : 1 << 12);
  return { createIndex: (site) => createInvertedIndex({ ...site, memory }) };
}

describe("shard against a map", () => {
  const seeds = [11, 12, 13, 14].map((seed) => [seed + (Number(process.env.SHARD_SEED) || 0)]);

  it.each(seeds)("with crashes, torn and failed writes, seed %i", async (seed) => {
    const createIndex = indexFor(seed);
    const random = seededRandom(seed);
    const script = new FaultScript(
      [
        { on: "write", fault: "fail", probability: 0.03 },
        { on: "write", fault: "tear", probability: 0.03 },
      ],
      seededRandom(random.below(2 ** 32)).next,
    );
    const store = new FaultyStore(new MemoryStore(), script);
    await using under = await ShardUnderTest.create(store);
    const open = async (): Promise<Shard> => {
      for (;;) {
        try {
          // Now and then all of the index is rebuilt, while writes fail.
          if (isMade && random.below(3) === 0) await store.write([indexRecord(false)]);
          return await under.open({ limits, idPresenceFilter, ...createIndex });
        } catch (error) {
          if (!(error instanceof ShoalError) || error.code !== "unavailable") throw error;
          if (store.isCrashed) await store.crash();
        }
      }
    };
    // The journal is cut behind a snapshot whenever that is written: a fault may strike between any two steps.
    const alive = async (look: () => Promise<void>): Promise<void> => {
      for (;;) {
        try {
          return await look();
        } catch (error) {
          if (!(error instanceof ShoalError) || !store.isCrashed) throw error;
          await store.crash();
        }
      }
    };
    const idPresenceFilter = new IdPresenceFilter(seed);
    let isMade = false;
    let shard = await open();
    isMade = true;
    const run = new ModelRun(random, under);
    for (let step = 0; step < 600; step++) {
      await run.write(shard);
      if (store.isCrashed) {
        await store.crash();
        // Either the process survives and sees what became of its write, or it starts again.
        if (random.below(2) === 0) shard = await open();
      }
      if (random.below(25) === 0) shard = await open();
      if (random.below(40) === 0) {
        await shard[Symbol.asyncDispose]();
        if (store.isCrashed) await store.crash();
        shard = await open();
      }
      if (run.undecided.length > 0) {
        // The views of a running shard follow at its next write.
        while (shard.condition().status !== "ready" || shard.hasObject(OTHER)) {
          const probe = shard.hasObject(OTHER) ? shard.deleteObject(OTHER) : shard.putObjects([book(OTHER)], "create");
          await probe.catch(() => {});
          if (store.isCrashed) await store.crash();
        }
        await alive(() => run.settle(shard));
      }
      if (step % 5 === 0) await alive(() => run.check(shard));
    }
    await alive(() => run.check(shard));
    expect(under.damages()).toEqual([]);
  });

  it.each(seeds)("on RocksDB with reopening, seed %i", async (seed) => {
    const folder = await mkdtemp(join(tmpdir(), "shard-rocks-"));
    const connect = (): Promise<KeyValueStore> => openRocksStore({ folder: join(folder, "kv"), ballastBytes: 0 });
    const under = await ShardUnderTest.create(await connect());
    const run = new ModelRun(seededRandom(seed), under);
    const createIndex = indexFor(seed);
    let shard = await under.open({ limits, idPresenceFilter: new IdPresenceFilter(seed), ...createIndex });
    for (let step = 0; step < 150; step++) {
      await run.write(shard);
      if (step % 10 === 0) await run.check(shard);
      if (run.random.below(20) !== 0) continue;
      if (run.random.below(2) === 0) await shard[Symbol.asyncDispose]();
      await under.store[Symbol.asyncDispose]();
      under.store = await connect();
      shard = await under.open({ limits, idPresenceFilter: new IdPresenceFilter(seed), ...createIndex });
      await run.check(shard);
    }
    expect(under.damages()).toEqual([]);
    await under[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
});
