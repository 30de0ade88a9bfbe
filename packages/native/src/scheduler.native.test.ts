import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const RUN = fileURLToPath(new URL("../stress/run.mjs", import.meta.url));

it("the scheduler loses nothing and overlaps nothing, while indexes come and go", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, "scheduler", "3"], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(stdout).toMatch(/[1-9]\d* indexes came and went/);
});
