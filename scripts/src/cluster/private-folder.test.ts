import { chmodSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makePrivateFolder } from "./private-folder.js";

it("S6: a folder is for its owner alone, also one that was there before", () => {
  const parent = mkdtempSync(join(tmpdir(), "shoal-private-"));
  const folder = join(parent, "logs");
  makePrivateFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  chmodSync(folder, 0o755);
  makePrivateFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  rmSync(parent, { recursive: true });
});
