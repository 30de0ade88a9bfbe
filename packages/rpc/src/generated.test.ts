import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL("..", import.meta.url));

test("the types are those of the protos (else: node packages/rpc/generate-types.mjs)", () => {
  // Inside of the repository, so that they are formatted as those are.
  const drawn = mkdtempSync(join(folder, "src", "drawn-"));
  try {
    execFileSync(process.execPath, [join(folder, "generate-types.mjs"), drawn]);
    const read = (root: string) =>
      readdirSync(join(root, "shoal"))
        .sort()
        .map((name) => [name, readFileSync(join(root, "shoal", name), "utf8")]);
    expect(read(join(folder, "src", "generated"))).toEqual(read(drawn));
  } finally {
    rmSync(drawn, { recursive: true, force: true });
  }
});
