import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { SchemaSnapshot } from "@shoal/rpc";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { address, context, ID, record, World } from "./node-world.fixture.js";
import { ShardFolders } from "./shard-folders.js";

let root: string;
let world: World;
beforeEach(async () => {
  root = join(await mkdtemp(join(tmpdir(), "shoal-node-")), "shards");
  world = new World(root);
});
afterEach(() => rm(dirname(root), { recursive: true, force: true }));

describe("a storage node and the schema", () => {
  test("a node that is behind catches up before it answers, or says that it cannot", async () => {
    await using node = await world.start();
    world.changeUnheard([record("a")]);
    expect(node.atSchemaVersion(1, context)).toBeUndefined();
    expect((await node.findObjects([ID], 2, context)).holders).toEqual([[address("a")]]);
    expect([node.schemaVersion, node.atSchemaVersion(2, context)]).toEqual([2, undefined]);
    world.isUnreachable = true;
    world.changeUnheard([record("a"), record("b")]);
    await expect(node.atSchemaVersion(3, context)).rejects.toMatchObject({
      code: "unavailable",
      retryAfterSeconds: 1,
      message: "node 'n1' is at version 2 of the schema, version 3 is asked for",
    });
    expect(await node.deleteObject(address("a"), ID, context)).toBe(true);
  });

  test("goes on with a remembered schema, and drops nothing because of it", async () => {
    const remembered: SchemaSnapshot = { historyId: "h", version: 2, classes: [record("a"), record("b")] };
    const folders = await ShardFolders.open(root);
    for (const classId of ["a", "b", "gone", "new"]) {
      await folders.shard(classId, "s1", { className: classId, historyId: "h", schemaVersion: 1 });
    }
    world.isUnreachable = true;
    await using node = await world.start(remembered);
    expect(await node.deleteObject(address("a"), ID, context)).toBe(true);
    expect([world.events, (await readdir(root)).sort()]).toEqual([[], ["a", "b", "gone", "new"]]);
    // The coordinator is back: `b` was deleted while the node was away, `new` was made when it had not stored that yet.
    world.snapshot = { historyId: "h", version: 3, classes: [] };
    world.change([record("a"), record("new")]);
    await expect.poll(() => readdir(root).then((names) => names.sort())).toEqual(["a", "new"]);
    expect(world.events).toEqual([
      { type: "classDropped", classId: "b" },
      { type: "classDropped", classId: "gone" },
    ]);
    expect(await node.deleteObject(address("new"), ID, context)).toBe(true);
  });

  test("what went while the node was away is dropped when the coordinator confirms the remembered schema", async () => {
    const remembered: SchemaSnapshot = { historyId: "h", version: 2, classes: [record("a")] };
    const folders = await ShardFolders.open(root);
    await folders.shard("gone", "s1", { className: "G", historyId: "h", schemaVersion: 1 });
    world.snapshot = remembered;
    await using _node = await world.start(remembered);
    await expect.poll(() => world.events).toEqual([{ type: "classDropped", classId: "gone" }]);
    expect(await readdir(root)).toEqual(["a"]);
  });

  test("another history takes classes away and leaves their data", async () => {
    world.snapshot = { historyId: "h", version: 1, classes: [record("a")] };
    await using node = await world.start();
    world.snapshot = { historyId: "other", version: 9, classes: [] };
    world.change([]);
    await expect
      .poll(() => world.events)
      .toEqual([{ type: "unknownClassOnDisk", classId: "a", folder: join(root, "a") }]);
    await expect(node.deleteObject(address("a"), ID, context)).rejects.toMatchObject({ code: "unavailable" });
    expect(world.log).toContain("close store a");
    expect(await readdir(root)).toEqual(["a"]);
  });

  test.each([
    ["goes on from it: what it lacks was deleted", 2, ["a"]],
    ["was put back to before it: what it lacks stays", 1, ["a", "b"]],
  ])("a later history that %s", async (_, upTo, kept) => {
    const remembered: SchemaSnapshot = { historyId: "h", version: 2, classes: [record("a"), record("b")] };
    const folders = await ShardFolders.open(root);
    for (const [classId, schemaVersion] of [["a", 1] as const, ["b", 2] as const]) {
      await folders.shard(classId, "s1", { className: classId, historyId: "h", schemaVersion });
    }
    // It has more versions by now than this node has ever seen.
    world.snapshot = { historyId: "later", version: 9, classes: [record("a")], former: [{ historyId: "h", upTo }] };
    await using _node = await world.start(remembered);
    const event = kept.includes("b")
      ? { type: "unknownClassOnDisk", classId: "b", folder: join(root, "b") }
      : { type: "classDropped", classId: "b" };
    await expect.poll(() => world.events).toEqual([event]);
    expect((await readdir(root)).sort()).toEqual(kept);
  });

  test("without any schema it waits for the first", async () => {
    world.isUnreachable = true;
    const starting = world.start();
    let isStarted = false;
    void starting.then(() => {
      isStarted = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isStarted).toBe(false);
    world.change([record("a")]);
    await using node = await starting;
    expect(await node.deleteObject(address("a"), ID, context)).toBe(true);
  });
});
