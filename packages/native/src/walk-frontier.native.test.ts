import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const RUN = fileURLToPath(new URL("../stress/run.mjs", import.meta.url));

it("the candidates of a walk are kept, counted, opened and found as plain lists have them", () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [RUN, "frontier", "1000"], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
  expect(stdout).toContain("1000 rounds");
});
