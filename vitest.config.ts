import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { TEST_TIMEOUTS } from "./scripts/test-timeouts.js";

const sourceOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Beside what is not ours, what `scripts/checks/node-24.sh` leaves out. */
const LEFT_OUT = ["**/node_modules/**", "**/dist/**", ...(process.env.SHOAL_TESTS_WITHOUT?.split(" ") ?? [])];
/** With a word in front of `test`: they need an addon, a disk or a process, or take long. */
const SPECIAL = "packages/{*,modules/*}/src/**/*.*.test.ts";
/** Fills a disk to its last byte and empties it again, by the clock. */
const ALONE = ["packages/kv/src/full-disk.native.test.ts"];
// Tests of processes wait for most of their time: also where there are only two cores, two files run side by side.
const SIDE_BY_SIDE = { maxWorkers: Math.max(2, availableParallelism() - 1), sequence: { groupOrder: 0 } };

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
          name: "unit",
          include: ["packages/{*,modules/*}/src/**/*.test.ts"],
          exclude: [...LEFT_OUT, SPECIAL],
          // A process loads the sources once for many files.
          isolate: false,
          ...SIDE_BY_SIDE,
        },
      },
      {
        extends: true,
        test: {
          name: "tests",
          include: [SPECIAL, "scripts/**/*.test.ts", "e2e/**/*.test.ts"],
          exclude: [...LEFT_OUT, "**/*.cluster.test.ts", ...ALONE],
          ...SIDE_BY_SIDE,
        },
      },
      {
        extends: true,
        test: { name: "alone", include: ALONE, exclude: LEFT_OUT, fileParallelism: false, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
