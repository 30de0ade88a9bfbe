import { ShoalError } from "@shoal/model";
import { MemoryBudget } from "@shoal/runtime";
import type { RoomBounds } from "@shoal/shard";
import { describe, expect, it } from "vitest";
import { RoomMaker, type RoomMakerShard } from "./room-maker.js";

const MIB = 1024 * 1024;
const BUDGET = 100 * MIB;

interface Fake {
  readonly shard: RoomMakerShard;
  count: number;
  deadRows: number;
}

function budgetAt(part: number): MemoryBudget {
  let nowMs = 0;
  const budget = new MemoryBudget({
    bytesMax: BUDGET,
    usedBytes: () => BUDGET * part,
    reclaim: async () => 0,
    nowMs: () => ++nowMs,
  });
  budget.look();
  return budget;
}

async function settledBudget(part: number): Promise<MemoryBudget> {
  const budget = budgetAt(part);
  await new Promise((resolve) => setImmediate(resolve));
  return budget;
}

function fake(name: string, made: string[], bytesARow = 1024, fails = false): Fake {
  const one: Fake = {
    count: 0,
    deadRows: 0,
    shard: {
      className: "A",
      shardName: name,
      makeRoom: async ({ hasRoom, mayReload }) => {
        if (fails) throw new ShoalError("unavailable", "it is closing");
        const isBeside = hasRoom(one.count * bytesARow);
        made.push(`${name} ${isBeside ? "beside" : mayReload ? "anew" : "left"}`);
        if (isBeside || mayReload) one.deadRows = 0;
      },
      statistics: () => ({
        ...{ sequence: 0, unsnapshotChanges: 0, pendingObjects: 0 },
        ...{ idTableBytes: 0, rowCacheBytes: 0, invertedIndexBytes: 0 },
        vectors: {
          ...{ count: one.count, deadRows: one.deadRows, unindexed: 0, tombstones: one.deadRows },
          ...{ resident: one.count + one.deadRows, fileBytes: 0, recall: undefined },
          memoryBytes: (one.count + one.deadRows) * bytesARow,
        },
      }),
    },
  };
  return one;
}

describe("RoomMaker", () => {
  const made: string[] = [];
  const failed: string[] = [];
  const maker = (budget: MemoryBudget, fakes: readonly Fake[]) => {
    made.length = 0;
    failed.length = 0;
    const onFailed = ({ shardName }: RoomMakerShard, { message }: ShoalError) =>
      failed.push(`${shardName}: ${message}`);
    return new RoomMaker({ budget, shards: () => fakes.map(({ shard }) => shard), onFailed });
  };

  it("leaves indexes alone while there is memory", async () => {
    const one = fake("a", made);
    Object.assign(one, { count: 1, deadRows: 50_000 });
    const room = maker(await settledBudget(0.84), [one]);
    for (let look = 0; look < 3; look++) await room.look();
    expect(made).toEqual([]);
  });

  it("has the one that gives back most rebuilt first, when removals have come to rest", async () => {
    const fakes = ["a", "b", "c"].map((name) => fake(name, made));
    for (const [at, one] of fakes.entries()) Object.assign(one, { count: 20_000, deadRows: 1_000 * (at + 1) });
    const room = maker(await settledBudget(0.903), fakes);
    await room.look();
    expect(made).toEqual([]);
    const last = fakes[0];
    if (last !== undefined) last.deadRows += 10;
    await room.look();
    expect(made).toEqual([]);
    await room.look();
    expect(made).toEqual(["c anew"]);
    // What is left is less than 4 % of the budget.
    for (let look = 0; look < 3; look++) await room.look();
    expect(made).toEqual(["c anew"]);
  });

  it("does not wait for removals to end where a third of an index is removed, and does it beside where that fits", async () => {
    const one = fake("a", made);
    Object.assign(one, { count: 2_000, deadRows: 1_100 });
    const room = maker(await settledBudget(0.92), [one]);
    await room.look();
    expect(made).toEqual(["a beside"]);
  });

  it.each([
    ["nothing is refused yet", 0.89, 20_000],
    ["it would not end what is refused", 0.96, 6_000],
    ["it would not end that nothing but deletions is taken", 0.995, 6_000],
  ])("stops no searches for it while %s", async (_, part, deadRows) => {
    const one = fake("a", made);
    Object.assign(one, { count: 20_000, deadRows });
    const room = maker(await settledBudget(part), [one]);
    await room.look();
    await room.look();
    expect(made).toEqual(["a left"]);
  });

  it("is not kept from it by what is stored meanwhile", async () => {
    const one = fake("a", made);
    Object.assign(one, { count: 20_000, deadRows: 6_000 });
    const room = maker(await settledBudget(0.905), [one]);
    await room.look();
    one.count += 100;
    await room.look();
    expect(made).toEqual(["a anew"]);
  });

  it("does not wait for removals that do not end", async () => {
    const one = fake("a", made);
    Object.assign(one, { count: 40_000, deadRows: 10_000 });
    const room = maker(await settledBudget(0.92), [one]);
    for (let look = 0; look < 60 && made.length === 0; look++) {
      one.deadRows++;
      await room.look();
    }
    expect(made).toEqual(["a anew"]);
  });

  it("leaves one that fails, or gives nothing back, alone for some minutes: others have a turn", async () => {
    const fails = fake("a", made, 1024, true);
    const vain = fake("b", made);
    const good = fake("c", made);
    for (const [one, deadRows] of [
      [fails, 9_000],
      [vain, 8_000],
      [good, 7_000],
    ] as const) {
      Object.assign(one, { count: 2_000, deadRows });
    }
    const { makeRoom } = vain.shard;
    const stays = {
      ...vain.shard,
      makeRoom: async (bounds: RoomBounds) => {
        await makeRoom(bounds);
        vain.deadRows = 8_000;
      },
    };
    const room = maker(await settledBudget(0.99), [fails, { ...vain, shard: stays }, good]);
    for (let look = 0; look < 290; look++) await room.look();
    expect(failed).toEqual(["a: it is closing"]);
    expect(made.map((one) => one[0])).toEqual(["b", "c"]);
    for (let look = 0; look < 300; look++) await room.look();
    expect(failed).toEqual(["a: it is closing", "a: it is closing"]);
  });
});
