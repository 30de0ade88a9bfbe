import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const sourceOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// Tests run on the sources: `@shoal/x` is packages/x/src, nothing has to be built but the addon.
export default defineConfig({
  resolve: {
    alias: [
      { find: "@shoal/data-sets", replacement: sourceOf("./e2e/data-sets/src/index.ts") },
      // Node loads graphql's CommonJS door, Vite would load the other one: two copies refuse each other's schemas.
      { find: /^graphql$/, replacement: "graphql/index.js" },
      { find: /^@shoal\/([a-z0-9-]+)$/, replacement: sourceOf("./packages/$1/src/index.ts") },
    ],
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts", "e2e/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", "**/*.cluster.test.ts"],
    pool: "forks",
    testTimeout: 30_000,
    // A machine that is busy takes its time; nothing waits for longer than it must.
    expect: { poll: { timeout: 15_000 } },
  },
});
