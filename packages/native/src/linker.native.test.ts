import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const RUN = fileURLToPath(new URL("../stress/run.mjs", import.meta.url));

it("links wait for none that reads a file", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, "linker", "20"], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/[1-9]\d* links during reads of others/);
});
