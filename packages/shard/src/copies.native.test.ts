import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { ShoalError } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { journalRangeAfter, rowRange, touchedRange } from "./key-layout.js";
import { readHead, readJournalAfter } from "./read-journal.js";
import { CopyUnderTest } from "./testing/copies-under-test-suite.js";
import { ModelRun, OBJECT_BYTES_MAX } from "./testing/model-run-suite.js";
import { book, INDEXES, idOf } from "./testing/shard-under-test-suite.js";

const limits = {
  snapshotChangesMin: 30,
  snapshotChangesFraction: 0,
  snapshotQuietMs: 60_000,
  objectBytesMax: OBJECT_BYTES_MAX,
};

async function entriesOf(copy: CopyUnderTest, range: { readonly gte: Uint8Array; readonly lt: Uint8Array }) {
  const entries: string[] = [];
  for await (const chunk of copy.under.store.scan(range)) {
    for (const { key, value } of chunk) {
      entries.push(`${Buffer.from(key).toString("hex")} ${Buffer.from(value).toString("hex")}`);
    }
  }
  return entries;
}

/** The same rows byte for byte, document ids and sequences among them, and the same ids. */
async function expectEqual(one: CopyUnderTest, other: CopyUnderTest): Promise<void> {
  expect(await entriesOf(one, rowRange())).toEqual(await entriesOf(other, rowRange()));
  expect(await readHead(one.under.store)).toEqual(await readHead(other.under.store));
  expect(await entriesOf(one, touchedRange())).toEqual([]);
  const { base, end } = one.state;
  // The journal names everything from the base to the end, in whole commits.
  let last = base;
  for (const { firstSequence, lastSequence } of await readJournalAfter(one.under.store, base)) {
    expect(firstSequence).toBeLessThanOrEqual(last + 1);
    last = lastSequence;
  }
  expect(last).toBe(end.sequence);
}

describe.each(INDEXES)("a copy that follows, with %s", (_name, createIndex) => {
  it.each([1, 2, 3])("has what the primary has, over crashes and promotions, seed %i", async (seed) => {
    const random = seededRandom(seed);
    const time = { nowUnix: 1_700_000_000_000 };
    const options = { limits, clock: () => time.nowUnix };
    await using a = await CopyUnderTest.create("a/1", options, createIndex, new MemoryStore());
    await using b = await CopyUnderTest.create("b/1", options, createIndex, new MemoryStore());
    await a.open();
    await b.open();
    let [primary, secondary] = [a, b];
    primary.followers = [secondary];
    const run = new ModelRun(random, time);
    for (let step = 0; step < 300; step++) {
      await run.write(primary.shard);
      if (step % 7 === 0) {
        await run.check(primary.shard);
        await run.check(secondary.shard);
        await expectEqual(primary, secondary);
      }
      if (random.oneIn(20)) await random.pick([primary, secondary]).open();
      if (random.oneIn(30)) {
        const closed = random.pick([primary, secondary]);
        await closed.close();
        await closed.open();
      }
      if (random.oneIn(25)) {
        [primary, secondary] = [secondary, primary];
        primary.epoch = secondary.epoch + 1;
        primary.followers = [secondary];
        secondary.followers = [];
      }
    }
    await run.check(secondary.shard);
    expect([...a.under.damages(), ...b.under.damages()]).toEqual([]);
    expect(await entriesOf(a, journalRangeAfter(0))).not.toEqual([]);
  });
});

describe.each(INDEXES)("a copy that catches up, with %s", (_name, createIndex) => {
  it.each([1, 2, 3, 4, 5, 6])("becomes what the primary is, whatever it holds, seed %i", async (seed) => {
    const random = seededRandom(seed);
    const time = { nowUnix: 1_700_000_000_000 };
    const options = { limits, clock: () => time.nowUnix };
    const copies = await Promise.all(
      ["a/1", "b/1", "c/1"].map((name) => CopyUnderTest.create(name, options, createIndex, new MemoryStore())),
    );
    for (const copy of copies) await copy.open();
    const run = new ModelRun(random, time);
    let [primary, secondary, learner] = copies as [CopyUnderTest, CopyUnderTest, CopyUnderTest];
    let epoch = 1;
    const lead = () => {
      epoch += 1;
      primary.epoch = epoch;
      for (const copy of copies) {
        copy.followers = copy === primary ? [secondary] : [];
        copy.queued = undefined;
      }
    };
    lead();
    let stopped = 0;
    for (let round = 0; round < 14; round++) {
      for (const copy of copies) copy.keepEntries = random.pick([5, 40, 1_000_000]);
      for (let at = random.below(30); at > 0; at--) await run.write(primary.shard);
      if (random.oneIn(2)) {
        // It is deposed without knowing it: what it writes from now on counts for nothing.
        [primary, secondary, learner] = [secondary, learner, primary];
        await divergentTail(learner, random);
        // Who was learner before may hold anything.
        lead();
        primary.followers = [];
        for (let at = random.below(20); at > 0; at--) await run.write(primary.shard);
        await secondary.catchUpWith(primary, Number.POSITIVE_INFINITY);
        primary.followers = [secondary];
      }
      const between = async () => {
        for (let at = random.below(5); at > 0; at--) await run.write(primary.shard);
        if (!random.oneIn(6)) return true;
        stopped += 1;
        return false;
      };
      while (!(await learner.catchUpWith(primary, random.pick([1, 300, 2_000, 1e6, Infinity]), between))) {
        primary.queued = undefined;
        if (random.oneIn(2)) await learner.open();
        if (!random.oneIn(3)) continue;
        [primary, secondary] = [secondary, primary];
        lead();
      }
      for (const copy of [primary, secondary, learner]) {
        await run.check(copy.shard);
        await expectEqual(copy, primary);
      }
      if (random.oneIn(2)) await learner.open();
      await run.check(learner.shard);
      await expectEqual(learner, primary);
      if (random.oneIn(2)) [secondary, learner] = [learner, secondary];
      primary.followers = [secondary];
    }
    expect(stopped).toBeGreaterThan(0);
    expect(copies.flatMap(({ under }) => under.damages())).toEqual([]);
    for (const copy of copies) await copy[Symbol.asyncDispose]();
  });
});

/** Commits that only one copy has, of which nobody knows what becomes. */
async function divergentTail(copy: CopyUnderTest, random: SeededRandom): Promise<void> {
  copy.abandons = true;
  for (let at = random.below(8); at > 0; at--) {
    const id = idOf(random.below(45));
    const vector = [random.below(3) + 1, 1, 1];
    const write = random.oneIn(3)
      ? copy.shard.deleteObject(id)
      : copy.shard.putObjects([book(id, vector, { n: at }), book(idOf(random.below(45)), vector, { n: at })], "upsert");
    const outcome = await write.catch((error: ShoalError) => error.message);
    if (typeof outcome === "string") expect(outcome).toMatch("nobody knows whether a write");
    else expect(outcome).toBe(false);
    expect(copy.shard.statistics().sequence).toBe(copy.state.end.sequence);
  }
  copy.abandons = false;
}
