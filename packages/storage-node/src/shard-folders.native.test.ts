import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findNodeIdentity, keepNodeIdentity } from "./node-identity.js";
import { ShardFolders } from "./shard-folders.js";

let root: string;
beforeEach(async () => {
  root = join(await mkdtemp(join(tmpdir(), "shoal-folders-")), "shards");
});
afterEach(() => rm(dirname(root), { recursive: true, force: true }));

const marker = (schemaVersion: number, historyId = "h1") => ({ className: "Word", historyId, schemaVersion });

describe("ShardFolders", () => {
  test("makes a folder a shard and keeps the first marker", async () => {
    const folders = await ShardFolders.open(root);
    expect(await folders.shard("c1", "s1", marker(3))).toBe(join(root, "c1", "s1"));
    await folders.shard("c1", "s2", marker(9));
    expect((await readdir(join(root, "c1"))).sort()).toEqual(["class.json", "s1", "s2"]);
    expect(await folders.strangers({ historyId: "h1", version: 3 }, new Set())).toEqual({
      deleted: ["c1"],
      unknown: [],
    });
  });

  test("remembers that a shard is damaged, until its folder is removed", async () => {
    const folders = await ShardFolders.open(root);
    await folders.shard("c1", "s1", marker(3));
    expect(await folders.damage("c1", "s1")).toBeUndefined();
    expect(await folders.damage("c2", "s1")).toBeUndefined();
    await folders.keepDamage("c1", "s1", "file 7 is damaged");
    const later = await ShardFolders.open(root);
    expect(await later.damage("c1", "s1")).toBe("file 7 is damaged");
    await later.removeShard("c1", "s1");
    expect(await later.damage("c1", "s1")).toBeUndefined();
  });

  test("makes shards of one class at once, with the marker of one of them", async () => {
    const folders = await ShardFolders.open(root);
    await Promise.all(Array.from({ length: 20 }, (_, i) => folders.shard("c1", `s${i}`, marker(3))));
    const names = await readdir(join(root, "c1"));
    expect(names).toHaveLength(21);
    expect(JSON.parse(await readFile(join(root, "c1", "class.json"), "utf8"))).toEqual(marker(3));
  });

  test("tells a deleted class from one whose schema was lost", async () => {
    const folders = await ShardFolders.open(root);
    await folders.shard("old", "s", marker(2));
    await folders.shard("new", "s", marker(5));
    await folders.shard("known", "s", marker(1));
    await folders.shard("torn", "s", marker(1));
    await writeFile(join(root, "torn", "class.json"), "{");
    await folders.shard("other", "s", marker(1, "h0"));
    const { deleted, unknown } = await folders.strangers({ historyId: "h1", version: 4 }, new Set(["known"]));
    expect(deleted).toEqual(["old"]);
    expect([...unknown].sort()).toEqual(["new", "other", "torn"]);
  });

  test("tells a class that has no shards yet, with or without its marker, to be deleted", async () => {
    const folders = await ShardFolders.open(root);
    await mkdir(join(root, "empty"));
    await mkdir(join(root, "cut"));
    await writeFile(join(root, "cut", "class.json"), "{");
    await mkdir(join(root, "unmarked", "s"), { recursive: true });
    await writeFile(join(root, "file"), "");
    expect(await folders.strangers({ historyId: "h1", version: 4 }, new Set())).toEqual({
      deleted: expect.toSatisfy((ids: string[]) => ids.sort().join() === "cut,empty"),
      unknown: expect.toSatisfy((ids: string[]) => ids.sort().join() === "file,unmarked"),
    });
  });

  test("finishes a removal that was interrupted, and removes twice without complaint", async () => {
    const folders = await ShardFolders.open(root);
    await folders.shard("c1", "s1", marker(1));
    await folders.shard("going", "s1", marker(1));
    const { rename } = await import("node:fs/promises");
    await rename(join(root, "going"), join(root, "going-c2"));
    await folders.drop("c1");
    await folders.drop("c1");
    expect(await readdir(root)).toEqual(["going-c2"]);
    await ShardFolders.open(root);
    expect(await readdir(root)).toEqual([]);
  });

  test.each(["..", "a/b", "", "a.b", "x".repeat(65), "going-x"])("refuses '%s' as a name", async (name) => {
    const folders = await ShardFolders.open(root);
    await expect(folders.shard(name, "s", marker(1))).rejects.toMatchObject({ code: "internal" });
    await expect(folders.shard("c", name, marker(1))).rejects.toMatchObject({ code: "internal" });
    await expect(folders.drop(name)).rejects.toMatchObject({ code: "internal" });
  });
});

describe("the identity of a node", () => {
  /** As a process that starts on the folder. */
  const identity = async (folder: string, configured: string | undefined, fallback: string): Promise<string> => {
    const found = await findNodeIdentity(folder, configured, fallback);
    await keepNodeIdentity(folder, found);
    return found.name;
  };

  test("is the configured name, or the fallback, and stays what it was first", async () => {
    expect(await identity(join(root, "a"), "n1", "host")).toBe("n1");
    expect(await identity(join(root, "a"), undefined, "other")).toBe("n1");
    expect(await identity(join(root, "b"), undefined, "host")).toBe("host");
    expect(await identity(join(root, "b"), undefined, "renamed")).toBe("host");
  });

  test("is only looked for until it is kept", async () => {
    for (let time = 0; time < 2; time++) {
      expect(await findNodeIdentity(root, "n1", "host")).toEqual({
        name: "n1",
        isNew: true,
        clusterId: undefined,
        secret: "",
        hasShardList: false,
      });
    }
    await keepNodeIdentity(root, { name: "n1", clusterId: undefined });
    expect(await findNodeIdentity(root, undefined, "host")).toEqual({
      name: "n1",
      isNew: false,
      clusterId: undefined,
      secret: "",
      hasShardList: false,
    });
  });

  test("S6: keeps its secret, once it has one, from other users", async () => {
    await keepNodeIdentity(root, { name: "n1", clusterId: undefined });
    await keepNodeIdentity(root, { name: "n1", clusterId: undefined, secret: "first" });
    await keepNodeIdentity(root, { name: "n1", clusterId: "cluster-1", secret: "second" });
    expect(await findNodeIdentity(root, "n1", "host")).toMatchObject({ secret: "first", clusterId: "cluster-1" });
    expect((await stat(join(root, "node.json"))).mode & 0o777).toBe(0o600);
  });

  test("F4: keeps the cluster that its data belongs to, also in a folder of before", async () => {
    await keepNodeIdentity(root, { name: "n1", clusterId: undefined });
    await keepNodeIdentity(root, { name: "n1", clusterId: "cluster-1", hasShardList: true });
    await keepNodeIdentity(root, { name: "n1", clusterId: "cluster-1" });
    expect(await findNodeIdentity(root, "n1", "host")).toEqual({
      name: "n1",
      isNew: false,
      clusterId: "cluster-1",
      secret: "",
      hasShardList: true,
    });
  });

  test("refuses another configured name, and a damaged file", async () => {
    await identity(root, "n1", "host");
    await expect(identity(root, "n2", "host")).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/'n2'.*'n1'/),
    });
    await writeFile(join(root, "node.json"), "");
    await expect(identity(root, undefined, "host")).rejects.toMatchObject({ code: "dataLoss" });
  });
});
