import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openRocksStore } from "@shoal/kv";
import { seededRandom } from "@shoal/seeded-random";
import type { Shard } from "@shoal/shard";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MadeShards } from "./made-shards.js";
import { openMadeShard } from "./open-made-shard.js";
import { rowsFolder, ShardFolders } from "./shard-folders.js";

let root: string;
let list: string;
beforeEach(async () => {
  root = join(await mkdtemp(join(tmpdir(), "shoal-made-")), "shards");
  list = `${root}.json`;
});
afterEach(() => rm(dirname(root), { recursive: true, force: true }));

const marker = (schemaVersion: number) => ({ className: "Word", historyId: "h1", schemaVersion });
const at = (version: number) => ({ historyId: "h1", version });

/** Opens a shard as a storage node does, and closes it; tells whether it was known. */
async function openOnce(
  folders: ShardFolders,
  classId: string,
  shardName: string,
  schemaVersion = 3,
): Promise<boolean> {
  const folder = await folders.shard(classId, shardName, marker(schemaVersion));
  let wasMade = false;
  const address = { classId, className: "Word", shardName };
  const { store } = await openMadeShard(folders, address, async (isMade) => {
    wasMade = isMade;
    const options = { folder: rowsFolder(folder), ballastBytes: 0, createIfMissing: !isMade };
    return {
      shard: { [Symbol.asyncDispose]: async () => undefined } as unknown as Shard,
      store: await openRocksStore(options),
    };
  });
  await store[Symbol.asyncDispose]();
  return wasMade;
}

const listed = async () =>
  Object.keys((JSON.parse(await readFile(list, "utf8")) as { classes: object }).classes).sort();

describe("F3: the list of the shards that were made", () => {
  test.each([
    ["the shards", ""],
    ["a class", "c1"],
    ["a shard", "c1/s1"],
    ["the store of a shard", "c1/s1/rows"],
    ["a file CURRENT", "c1/s1/rows/CURRENT"],
  ])("refuses a shard when %s went away, makes nothing in the place, and opens it when it is back", async (_, lost) => {
    expect(await openOnce(await ShardFolders.open(root), "c1", "s1")).toBe(false);
    await rename(join(root, lost), join(dirname(root), "away"));
    const folders = await ShardFolders.open(root);
    await expect(openOnce(folders, "c1", "s1")).rejects.toMatchObject({
      code: "dataLoss",
      message: expect.stringContaining(join(root, "c1/s1/rows")),
    });
    await rename(join(dirname(root), "away"), join(root, lost));
    expect(await openOnce(folders, "c1", "s1")).toBe(true);
  });

  test("takes in what a release without a list has made, and nothing that is no store", async () => {
    const before = await ShardFolders.open(root);
    await openOnce(before, "c1", "s1");
    await openOnce(before, "c2", "s1");
    await mkdir(join(root, "c3", "s1", "rows"), { recursive: true });
    await writeFile(join(root, "c3", "s1", "rows", "MANIFEST-000001"), "");
    await writeFile(join(root, "file"), "");
    await rm(list);
    const folders = await ShardFolders.open(root);
    expect(await listed()).toEqual(["c1", "c2"]);
    expect([folders.isMade("c1", "s1"), folders.isMade("c3", "s1"), folders.isMade("c4", "s1")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(await openOnce(folders, "c3", "s1")).toBe(false);
    expect(await openOnce(folders, "c4", "s1")).toBe(false);
    expect(await listed()).toEqual(["c1", "c2", "c3", "c4"]);
  });

  test("enters a shard only after it is complete, and again when the disk did not take the entry", async () => {
    const folders = await ShardFolders.open(root);
    const address = { classId: "c1", className: "Word", shardName: "s1" };
    await folders.shard("c1", "s1", marker(1));
    await expect(openMadeShard(folders, address, () => Promise.reject(new Error("cut short")))).rejects.toThrow(
      "cut short",
    );
    expect(await listed()).toEqual([]);
    // In the place of the file that is written first.
    await mkdir(`${list}.new`);
    await expect(openOnce(folders, "c1", "s1")).rejects.toThrow("EISDIR");
    expect(folders.isMade("c1", "s1")).toBe(false);
    await rm(`${list}.new`, { recursive: true });
    expect(await openOnce(folders, "c1", "s1")).toBe(false);
    expect(await listed()).toEqual(["c1"]);
  });

  test("forgets a class that was dropped, also one whose folder is lost and whose class went meanwhile", async () => {
    const folders = await ShardFolders.open(root);
    await openOnce(folders, "c1", "s1", 1);
    await openOnce(folders, "c2", "s1", 2);
    await openOnce(folders, "c3", "s1", 9);
    await folders.drop("c1");
    expect(await listed()).toEqual(["c2", "c3"]);
    await rm(root, { recursive: true });
    const again = await ShardFolders.open(root);
    // A schema that is older than the class may have lost it: it counts as made on.
    expect(await again.strangers(at(4), new Set())).toEqual({ deleted: ["c2"], unknown: [] });
    await again.drop("c2");
    expect(await listed()).toEqual(["c3"]);
    expect(await openOnce(again, "c4", "s1")).toBe(false);
    expect(await readdir(root)).toEqual(["c4"]);
  });

  test.each([
    '{"classes":{"c1":',
    "{}",
    '{"classes":{"..":{"shards":[]}}}',
    '{"classes":{"c1":{"shards":["a/b"]}}}',
    '{"classes":{"c1":{}}}',
  ])("says what to do when it is damaged: %s", async (text) => {
    await writeFile(list, text);
    await expect(ShardFolders.open(root)).rejects.toMatchObject({
      code: "dataLoss",
      message: expect.stringMatching(/shards\.json.*remove it/),
    });
  });
});

test("F3: a list agrees with a set over random changes, at once and after each reading", async () => {
  const random = seededRandom(3);
  const file = join(dirname(root), "list.json");
  let made = await MadeShards.open(file, async () => []);
  const oracle = new Set<string>();
  for (let round = 0; round < 30; round++) {
    const steps = Array.from({ length: 1 + random.below(40) }, () => {
      const classId = `c${random.below(6)}`;
      if (random.below(10) === 0) {
        for (const one of oracle) if (one.startsWith(`${classId}/`)) oracle.delete(one);
        return made.forget(classId);
      }
      const shardName = `s${random.below(20)}`;
      oracle.add(`${classId}/${shardName}`);
      return made.add({ classId, shardName, marker: marker(1) });
    });
    await Promise.all(steps);
    if (round % 3 === 0) made = await MadeShards.open(file, () => Promise.reject(new Error("it is there")));
    for (let classNumber = 0; classNumber < 6; classNumber++) {
      for (let shard = 0; shard < 20; shard++) {
        const [classId, shardName] = [`c${classNumber}`, `s${shard}`];
        expect(made.has(classId, shardName), `round ${round}`).toBe(oracle.has(`${classId}/${shardName}`));
      }
    }
  }
});
