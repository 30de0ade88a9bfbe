import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { jsonFileMemory } from "./json-file-memory.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-memory-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it("gives back what was stored last, nothing before that, and refuses what is damaged", async () => {
  const memory = jsonFileMemory<{ version: number }>(folder, "schema.json");
  expect(await memory.load()).toBeUndefined();
  await memory.store({ version: 1 });
  await memory.store({ version: 2 });
  expect(await jsonFileMemory(folder, "schema.json").load()).toEqual({ version: 2 });
  expect(await readdir(folder)).toEqual(["schema.json"]);
  await writeFile(join(folder, "schema.json"), '{"version":');
  await expect(memory.load()).rejects.toThrow(/schema.json' is damaged/);
  await expect(jsonFileMemory(join(folder, "none"), "x").store(1)).rejects.toThrow(/ENOENT/);
});
