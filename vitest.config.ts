import { defineConfig } from "vitest/config";

// Tests run on the sources: `@shoal/x` is packages/x/src, nothing has to be built but the addon.
export default defineConfig({
  resolve: {
    alias: [
      { find: "@shoal/data-sets", replacement: new URL("./e2e/data-sets/src/index.ts", import.meta.url).pathname },
      // Node loads graphql's CommonJS door, Vite would load the other one: two copies refuse each other's schemas.
      { find: /^graphql$/, replacement: "graphql/index.js" },
      { find: /^@shoal\/([a-z0-9-]+)$/, replacement: new URL("./packages/$1/src/index.ts", import.meta.url).pathname },
    ],
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "scripts/**/*.test.ts", "e2e/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**", "**/*.cluster.test.ts"],
    pool: "forks",
    testTimeout: 30_000,
  },
});
