import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { TEST_TIMEOUTS } from "../../test-timeouts.js";

// Apart from `npm test`: these need Helm, which scripts/deploy/fetch-helm.mjs fetches. Nothing here depends on the clock, so
// nothing is tried again.
export default defineConfig({
  resolve: {
    alias: [
      {
        find: /^@shoal\/([a-z0-9-]+)$/,
        replacement: fileURLToPath(new URL("../../../packages/$1/src/index.ts", import.meta.url)),
      },
    ],
  },
  test: { include: ["scripts/deploy/chart/*.chart.ts"], pool: "forks", ...TEST_TIMEOUTS, retry: 0 },
});
