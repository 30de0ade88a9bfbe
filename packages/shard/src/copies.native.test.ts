import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { HEAD_KEY, journalRangeAfter, rowRange, touchedRange } from "./key-layout.js";
import { CopyUnderTest } from "./testing/copies-under-test-suite.js";
import { ModelRun, OBJECT_BYTES_MAX } from "./testing/model-run-suite.js";
import { INDEXES } from "./testing/shard-under-test-suite.js";

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
  const head = await one.under.store.get(HEAD_KEY);
  expect(await other.under.store.get(HEAD_KEY)).toEqual(head);
  expect(await entriesOf(one, touchedRange())).toEqual([]);
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
