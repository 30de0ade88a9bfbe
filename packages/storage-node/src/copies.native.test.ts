import { ShoalError } from "@shoal/model";
import { ShardMoved } from "@shoal/rpc";
import { describe, expect, it } from "vitest";
import { CopiesWorld, notYet, until } from "./copies-world.fixture.js";
import { ownCopyOf } from "./copy-node.fixture.js";

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

describe("the copies of a shard", () => {
  it("hold every acknowledged write, and answer searches; what decides is for the primary", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 20, 7);
    const primary = await world.primary();
    await world.whole();
    for (const node of world.nodes.values()) {
      await world.finds(node.name, range(0, 20));
      await until("a filter finds them", async () => (await node.matching(7).catch(notYet)) !== false);
    }
    expect(await primary.read(3)).toBe(7);
    for (const node of world.secondaries(primary)) {
      const refused = [node.read(3), node.put(3, 8), node.delete(3)];
      for (const result of await Promise.allSettled(refused)) {
        const { reason } = result as PromiseRejectedResult;
        expect(reason).toBeInstanceOf(ShardMoved);
        const { code, configuration } = reason as ShardMoved;
        expect([code, configuration?.primary]).toEqual(["moved", world.configuration().primary]);
      }
    }
    expect(await primary.read(3)).toBe(7);
  });

  it("take the place of a primary that is killed, which comes back as one of them", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 30, 1);
    await world.whole();
    const former = await world.primary();
    // One is under way.
    const underWay = former.put(30, 1).catch((error: unknown) => ShoalError.from(error).code);
    former.kill();
    expect([undefined, "unavailable", "moved"]).toContain(await underWay);
    await world.put(31, 40, 2);
    const primary = await world.primary();
    expect(primary).not.toBe(former);
    for (let at = 0; at < 40; at++) if (at !== 30) expect(await world.read(at)).toBe(at < 30 ? 1 : 2);
    await former.start();
    await world.whole();
    expect(world.configuration().inSync).toContain("n1/1");
    const isThere = (await world.read(30)) === 1;
    for (const { name } of world.nodes.values()) {
      await world.finds(
        name,
        range(0, 40).filter((at) => isThere || at !== 30),
      );
    }
  });
});

describe("what a primary counts", () => {
  it("is the copies that are away, how much they lack, and whether writes are refused for it", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 5);
    await world.whole();
    const primary = await world.primary();
    const counted = () => primary.copies.statistics();
    const [one, other] = world.secondaries(primary);
    expect(counted()).toMatchObject({ outOfSync: 0, belowMinInSync: 0, lag: 0, takenOut: 0 });
    one.kill();
    await until("it is taken out", () => counted().outOfSync === 1);
    expect(counted()).toMatchObject({ belowMinInSync: 0, takenOut: 1 });
    const before = counted().lag;
    await world.put(5, 25);
    expect(counted().lag).toBe(before + 20);
    expect(other.copies.statistics()).toMatchObject({ outOfSync: 0, belowMinInSync: 0, lag: 0 });
    other.kill();
    await until("the other one is, too", () => counted().outOfSync === 2);
    expect(counted()).toMatchObject({ belowMinInSync: 1, lag: before + 20, takenOut: 2 });
    await Promise.all([one.start(), other.start()]);
    await world.whole();
    expect(counted()).toMatchObject({ outOfSync: 0, belowMinInSync: 0, lag: 0 });
  });
});

describe("a copy that is not on the disk", () => {
  it.each(["of a disk that is gone", "that is made but missing"])(
    "%s is replaced by a new one, which is filled",
    async (which) => {
      await using world = await CopiesWorld.start();
      await world.put(0, 40, 1);
      await world.whole();
      const [lost] = world.secondaries(await world.primary());
      lost.kill();
      await (which === "of a disk that is gone" ? lost.wipeAll() : lost.wipe());
      await world.put(40, 45, 1);
      await lost.start();
      await world.whole();
      const name = lost.replica()?.name;
      expect(name).toMatch(`${ownCopyOf(lost.name, which === "of a disk that is gone" ? 2 : 1)}.`);
      expect(world.configuration().inSync).toContain(name);
      await world.finds(lost.name, range(0, 45));
      await world.put(45, 50, 1);
      await world.whole();
    },
  );

  it("is a loss of data when it was the last one in sync", async () => {
    await using world = await CopiesWorld.start();
    await world.put(0, 5, 1);
    const last = await world.primary();
    for (const node of world.secondaries(last)) node.kill();
    await until("it is alone", () => world.configuration().inSync.length === 1);
    last.kill();
    await last.wipe();
    await last.start();
    const failed = last.events.find((event) => event.type === "shardFailed");
    expect(failed).toMatchObject({
      error: { code: "dataLoss", message: expect.stringContaining("the last copy in sync") },
    });
    await expect(last.put(5)).rejects.toMatchObject({ code: "moved" });
  });
});
