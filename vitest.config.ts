import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { TEST_TIMEOUTS } from "./scripts/test-timeouts.js";

const sourceOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Fills a disk to its last byte and empties it again, by the clock. */
const ALONE = ["packages/kv/src/full-disk.native.test.ts"];

// Tests run on the sources: `@shoal/x` is packages/x/src, nothing has to be built but the addon.
export default defineConfig({
  resolve: {
    alias: [
      { find: "@shoal/data-sets", replacement: sourceOf("./e2e/data-sets/src/index.ts") },
      // Node loads graphql's CommonJS door, Vite would load the other one: two copies refuse each other's schemas.
      { find: /^graphql$/, replacement: "graphql/index.js" },
      ...readdirSync(sourceOf("./packages/modules")).map((name) => ({
        find: `@shoal/${name}`,
        replacement: sourceOf(`./packages/modules/${name}/src/index.ts`),
      })),
      {
        find: /^@shoal\/([a-z0-9-]+)\/testing\/([a-z0-9-]+)$/,
        replacement: sourceOf("./packages/$1/src/testing/$2.ts"),
      },
      { find: /^@shoal\/([a-z0-9-]+)$/, replacement: sourceOf("./packages/$1/src/index.ts") },
      { find: /^@shoal\/([a-z0-9-]+)\/([a-z0-9-]+)$/, replacement: sourceOf("./packages/$1/src/$2.ts") },
    ],
  },
  test: {
    pool: "forks",
    ...TEST_TIMEOUTS,
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: [
            "packages/*/src/**/*.test.ts",
            "packages/modules/*/src/**/*.test.ts",
            "scripts/**/*.test.ts",
            "e2e/**/*.test.ts",
          ],
          exclude: ["**/node_modules/**", "**/dist/**", "**/*.cluster.test.ts", ...ALONE],
          // Tests of processes wait for most of their time: also where there are only two cores, two files run side by side.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: "alone", include: ALONE, fileParallelism: false, sequence: { groupOrder: 1 } } },
    ],
  },
});
