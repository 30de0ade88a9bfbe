import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDataFolder } from "./make-data-folder.js";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "shoal-data-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

test("makes the folder with its parents, and takes one that is there", async () => {
  const path = join(root, "a", "b", "c");
  await makeDataFolder(path);
  await makeDataFolder(path);
  expect((await stat(path)).isDirectory()).toBe(true);
});

test("a file, or one on the way, is refused", async () => {
  await writeFile(join(root, "file"), "");
  for (const path of [join(root, "file"), join(root, "file", "data")]) {
    await expect(makeDataFolder(path)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining(`got '${path}'`),
    });
  }
});

// A file system that answers every mkdir with ENOENT.
test.runIf(process.platform === "linux")("a folder that cannot be made is refused at once (needs Linux)", async () => {
  await expect(makeDataFolder("/proc/shoal/data")).rejects.toMatchObject({ code: "invalid" });
});

test.runIf(process.getuid?.() !== 0)(
  "a folder that may not be written to is refused (needs a user that is not root)",
  async () => {
    await mkdir(join(root, "closed"));
    await chmod(join(root, "closed"), 0o500);
    await expect(makeDataFolder(join(root, "closed"))).rejects.toMatchObject({ code: "invalid" });
  },
);
