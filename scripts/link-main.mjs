import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

/**
 * Makes `packages/cli/dist/main.js`, what everybody starts, a link to `main.cjs`: the package has ES modules, and its main must
 * be none (`packages/cli/src/main.cts`). `root` is that of the repository.
 */
export function linkMain(root) {
  const main = join(root, "packages", "cli", "dist", "main.js");
  // An earlier build compiled it.
  rmSync(main, { force: true });
  symlinkSync("main.cjs", main);
}
