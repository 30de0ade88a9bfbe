import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const RUN = fileURLToPath(new URL("../stress/run.mjs", import.meta.url));

it("the sorted list of a walk keeps, counts and opens what a list does that is sorted anew each time", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, "pool", "1000"], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(stdout).toContain("1000 rounds");
}, 120_000);
