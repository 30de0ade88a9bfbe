import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

// The same from src/ (tests) and from dist/ (built).
const path = fileURLToPath(new URL("../build/shoal.node", import.meta.url));
if (!existsSync(path)) {
  throw new Error(`the native addon is not built: run 'node packages/native/build.mjs' (looked for ${path})`);
}

/** What build/shoal.node exports, untyped; each file of this package types the part that it hands out. */
export const addon: unknown = createRequire(import.meta.url)(path);
