import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readPageFiles } from "./read-page-files.js";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-pages-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test("reads everything below the folder, packed forms beside their files", async () => {
  await mkdir(join(folder, "assets"));
  await writeFile(join(folder, "index.html"), "page");
  await writeFile(join(folder, "assets", "a.js"), "script");
  await writeFile(join(folder, "assets", "a.js.gz"), "packed");
  const files = await readPageFiles(pathToFileURL(`${folder}/`));
  const shown = files.map(({ path, bytes, gzip }) => [path, String(bytes), gzip && String(gzip)]);
  expect(shown.sort()).toEqual([
    ["assets/a.js", "script", "packed"],
    ["index.html", "page", undefined],
  ]);
});

test("a folder that is not there has no files", async () => {
  expect(await readPageFiles(pathToFileURL(join(folder, "nothing/")))).toEqual([]);
});
