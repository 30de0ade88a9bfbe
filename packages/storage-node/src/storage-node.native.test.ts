import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ShardAddress } from "@shoal/rpc";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { address, context, ID, OTHER, record, World } from "./node-world.fixture.js";
import { ShardFolders } from "./shard-folders.js";

let root: string;
let world: World;
beforeEach(async () => {
  root = join(await mkdtemp(join(tmpdir(), "shoal-node-")), "shards");
  world = new World(root);
});
afterEach(() => rm(dirname(root), { recursive: true, force: true }));

describe("StorageNode", () => {
  test("opens what the schema places here, and nothing else", async () => {
    world.snapshot = { historyId: "h", version: 1, classes: [record("a", ["s1", "s2"]), record("b", ["s1"], "n2")] };
    await using node = await world.start();
    expect(world.log.filter((line) => line.startsWith("open")).sort()).toEqual(["open a/s1", "open a/s2"]);
    expect((await node.shardStatuses(context)).map((one) => one.status)).toEqual(["ready", "ready"]);
    await expect(node.deleteObject(address("b"), ID, context)).rejects.toMatchObject({
      code: "unavailable",
      message: "shard s1 of class 'B' on node 'n1' is not there",
    });
  });

  test("tells what the shards take that are open", async () => {
    world.unopenable.add("c");
    world.snapshot = { historyId: "h", version: 1, classes: [record("a"), record("b"), record("c")] };
    await using node = await world.start();
    expect(await node.shardSizes(context)).toEqual([
      { address: address("a"), diskBytes: 430, vectorMemoryBytes: 7 },
      { address: address("b"), diskBytes: 400, vectorMemoryBytes: 0 },
    ]);
  });

  test("tells of a shard that is being opened when it is open", async () => {
    await using node = await world.start();
    world.change([record("a", ["s1", "s2"])]);
    expect((await node.shardStatuses(context)).map((one) => one.status)).toEqual(["ready", "ready"]);
  });

  test("follows the schema: a request for a new class waits for its shard, a dropped class loses its folder", async () => {
    await using node = await world.start();
    world.change([record("a")]);
    expect(await node.deleteObject(address("a"), ID, context)).toBe(true);
    world.change([
      { ...record("a"), definition: { ...record("a").definition, vectorIndexConfig: { ef: 7 } } as never },
    ]);
    expect(world.log).toContain("configure a ef 7");
    const properties = [{ name: "title", dataType: ["text"] }];
    world.change([
      { ...record("a"), definition: { ...record("a").definition, vectorIndexConfig: { ef: 7 }, properties } as never },
    ]);
    expect(world.log).toContain("configure a ef 7 title");
    world.change([]);
    await expect.poll(() => world.events).toEqual([{ type: "classDropped", classId: "a" }]);
    expect(world.log.slice(-2)).toEqual(["close a/s1", "close store a"]);
    expect(await readdir(root)).toEqual([]);
  });

  test("looks for ids in the shards of the schema that it is asked with, or of a later one", async () => {
    world.snapshot = { historyId: "h", version: 1, classes: [record("a", ["s1", "s2"]), record("b", ["s1"], "n2")] };
    await using node = await world.start();
    const places = async (version: number) => {
      const { holders, unasked } = await node.findObjects([ID, OTHER], version, context);
      const names = (addresses: readonly ShardAddress[]) => addresses.map((one) => `${one.classId}/${one.shardName}`);
      return [...holders.map(names), names(unasked.map(({ shard }) => shard))];
    };
    expect(await places(1)).toEqual([["a/s1", "a/s2"], [], []]);
    await expect(places(2)).rejects.toMatchObject({
      code: "unavailable",
      message: "node 'n1' is at version 1 of the schema, version 2 is asked for",
    });
    world.unopenable.add("d");
    world.change([record("a"), record("c"), record("d")]);
    expect(await places(2)).toEqual([["a/s1", "a/s2", "c/s1"], [], ["d/s1"]]);
    world.change([record("c")]);
    expect(await places(2)).toEqual([["c/s1"], [], []]);
  });

  test("a shard that cannot be opened says why, and is tried again after a while", async () => {
    world.unopenable.add("a");
    world.snapshot = { historyId: "h", version: 1, classes: [record("a"), record("b")] };
    await using node = await world.start();
    const message = "shard s1 of class 'A' on node 'n1' could not be opened: its files are damaged";
    await expect(node.deleteObject(address("a"), ID, context)).rejects.toMatchObject({ code: "unavailable", message });
    expect(await node.deleteObject(address("b"), ID, context)).toBe(true);
    world.unopenable.clear();
    await expect(node.deleteObject(address("a"), ID, context)).rejects.toMatchObject({ message });
    world.nowMs += 5_000;
    expect(await node.deleteObject(address("a"), ID, context)).toBe(true);
  });

  test("a shard that fails while it is open is closed and reopened", async () => {
    world.snapshot = { historyId: "h", version: 1, classes: [record("a")] };
    await using node = await world.start();
    world.broken.add("a");
    await expect(node.deleteObject(address("a"), ID, context)).rejects.toMatchObject({ message: "views broke" });
    world.broken.clear();
    expect(await node.deleteObject(address("a"), ID, context)).toBe(true);
    expect(world.log.filter((line) => !line.startsWith("configure"))).toEqual([
      "open a/s1",
      "close a/s1",
      "close store a",
      "open a/s1",
    ]);
    expect(world.events).toMatchObject([{ type: "shardFailed", error: { message: "views broke" } }]);
  });

  test("closing goes on after a shard that would not close, its store included", async () => {
    world.snapshot = { historyId: "h", version: 1, classes: [record("a"), record("b")] };
    const node = await world.start();
    world.badlyClosing.add("a");
    await expect(node[Symbol.asyncDispose]()).rejects.toThrow("a would not close");
    expect(world.log.filter((line) => line.startsWith("close")).sort()).toEqual([
      "close a/s1",
      "close b/s1",
      "close store a",
      "close store b",
    ]);
  });

  test("at the start, folders of deleted classes go and those of unknown ones stay", async () => {
    const folders = await ShardFolders.open(root);
    await folders.shard("deleted", "s1", { className: "D", historyId: "h", schemaVersion: 1 });
    await folders.shard("other", "s1", { className: "O", historyId: "before", schemaVersion: 1 });
    await using _node = await world.start();
    await expect.poll(() => readdir(root)).toEqual(["other"]);
    expect(world.events).toContainEqual({
      type: "unknownClassOnDisk",
      classId: "other",
      folder: join(root, "other"),
    });
  });
});
