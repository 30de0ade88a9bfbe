import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ClassRecord } from "@shoal/rpc";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { address, context, ID, record, World } from "./node-world.fixture.js";

function withTerm(one: ClassRecord, epoch: number): ClassRecord {
  const shards = one.sharding.shards.map((shard) => ({ ...shard, epoch }));
  return { ...one, sharding: { ...one.sharding, shards } };
}

let root: string;
let world: World;
beforeEach(async () => {
  root = join(await mkdtemp(join(tmpdir(), "shoal-node-")), "shards");
  world = new World(root);
});
afterEach(() => rm(dirname(root), { recursive: true, force: true }));

describe("epochs of shards", () => {
  it("a lower one than the schema's is refused, the same is served; absent is the first", async () => {
    world.change([record("a"), withTerm(record("b", ["s2"]), 3)]);
    await using node = await world.start();
    const write = (classId: string, shard: string, epoch?: number) =>
      node.deleteObject({ ...address(classId, shard), ...(epoch === undefined ? {} : { epoch }) }, ID, context);
    expect([await write("a", "s1"), await write("a", "s1", 1), await write("b", "s2", 3)]).toEqual([true, true, true]);
    for (const epoch of [1, 2, undefined]) {
      await expect(write("b", "s2", epoch)).rejects.toMatchObject({
        code: "conflict",
        message: `shard s2 of class 'B' on node 'n1' has seen epoch 3, epoch ${epoch ?? 1} is over`,
      });
    }
  });

  it("a request with a later one waits for the schema, and its epoch is the lowest from then on", async () => {
    world.change([record("a")]);
    await using node = await world.start();
    const write = (epoch: number) => node.deleteObject({ ...address("a"), epoch }, ID, context);
    expect(await write(1)).toBe(true);
    await expect(write(4)).rejects.toMatchObject({
      code: "unavailable",
      retryAfterSeconds: 1,
      message: "shard s1 of class 'A' on node 'n1' is at epoch 1, the request is for epoch 4",
    });
    await expect(write(1)).rejects.toMatchObject({ code: "conflict" });
    world.change([withTerm(record("a"), 4)]);
    expect(await write(4)).toBe(true);
    await expect(write(3)).rejects.toMatchObject({ code: "conflict" });
  });

  it("with a new one the shard is reopened, because what it writes carries it", async () => {
    world.change([record("a")]);
    await using node = await world.start();
    world.change([withTerm(record("a"), 2)]);
    expect(await node.deleteObject({ ...address("a"), epoch: 2 }, ID, context)).toBe(true);
    expect(world.log.filter((line) => /^(open|close) /.test(line))).toEqual([
      "open a/s1",
      "close a/s1",
      "close store a",
      "open a/s1",
    ]);
  });

  it("a former owner refuses who has not heard of the new one", async () => {
    world.change([record("a")]);
    await using node = await world.start();
    world.change([withTerm(record("a", ["s1"], "n2"), 2)]);
    await expect(node.deleteObject(address("a"), ID, context)).rejects.toMatchObject({ code: "conflict" });
  });
});
