import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Logger, silentLogger } from "@shoal/service-runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeDataFolder } from "./make-data-folder.js";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "shoal-data-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

test("makes the folder with its parents, and takes one that is there", async () => {
  const path = join(root, "a", "b", "c");
  await makeDataFolder(path, silentLogger);
  await makeDataFolder(path, silentLogger);
  expect((await stat(path)).isDirectory()).toBe(true);
});

test("S11: what it makes is the owner's alone; a folder that was there stays as it was, and everybody is warned of", async () => {
  const warnings: unknown[] = [];
  const logger: Logger = { ...silentLogger, warn: (...line: unknown[]) => warnings.push(line) };
  const made = join(root, "parent", "data");
  await makeDataFolder(made, logger);
  expect((await stat(made)).mode & 0o777).toBe(0o700);
  await chmod(made, 0o750);
  await makeDataFolder(made, logger);
  expect(warnings).toEqual([]);
  await chmod(made, 0o755);
  await makeDataFolder(made, logger);
  expect((await stat(made)).mode & 0o777).toBe(0o755);
  expect(warnings).toEqual([[{ dataPath: made, mode: "755" }, expect.stringContaining("chmod")]]);
});

test("a file, or one on the way, is refused", async () => {
  await writeFile(join(root, "file"), "");
  for (const path of [join(root, "file"), join(root, "file", "data")]) {
    await expect(makeDataFolder(path, silentLogger)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining(`got '${path}'`),
    });
  }
});

// A file system that answers every mkdir with ENOENT.
test.runIf(process.platform === "linux")("a folder that cannot be made is refused at once (needs Linux)", async () => {
  await expect(makeDataFolder("/proc/shoal/data", silentLogger)).rejects.toMatchObject({ code: "invalid" });
});

test.runIf(process.getuid?.() !== 0)(
  "a folder that may not be written to is refused (needs a user that is not root)",
  async () => {
    await mkdir(join(root, "closed"));
    await chmod(join(root, "closed"), 0o500);
    await expect(makeDataFolder(join(root, "closed"), silentLogger)).rejects.toMatchObject({ code: "invalid" });
  },
);
