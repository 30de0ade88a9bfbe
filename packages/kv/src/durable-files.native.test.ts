import type { PathLike } from "node:fs";
import * as disk from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { makeDurableFolder, writeDurableFile } from "./durable-files.js";

const done: string[] = [];

// What reaches the disk, in its order.
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof disk>();
  return {
    ...real,
    open: async (path: PathLike, flags?: string) => {
      const handle = await real.open(path, flags);
      const sync = handle.sync.bind(handle);
      handle.sync = async () => {
        done.push(`sync ${basename(String(path))}`);
        await sync();
      };
      return handle;
    },
    rename: async (from: PathLike, to: PathLike) => {
      done.push(`rename ${basename(String(from))} ${basename(String(to))}`);
      await real.rename(from, to);
    },
  };
});

let root: string;
beforeEach(async () => {
  root = await disk.mkdtemp(join(tmpdir(), "shoal-durable-"));
  done.length = 0;
});
afterEach(() => disk.rm(root, { recursive: true }));

it("syncs the parent of each folder it makes, and that of one that is there", async () => {
  await makeDurableFolder(join(root, "a", "b", "c"));
  expect(done).toEqual(["sync b", "sync a", `sync ${basename(root)}`]);
  done.length = 0;
  await makeDurableFolder(join(root, "a", "b"));
  expect(done).toEqual(["sync a"]);
});

it("syncs a file before it takes its name, and the name after it", async () => {
  const file = join(root, "file");
  await disk.writeFile(file, "old");
  await writeDurableFile(file, Buffer.from("new"));
  expect(done).toEqual(["sync file.new", "rename file.new file", `sync ${basename(root)}`]);
  expect(await disk.readFile(file, "utf8")).toBe("new");
  expect(await disk.readdir(root)).toEqual(["file"]);
});
