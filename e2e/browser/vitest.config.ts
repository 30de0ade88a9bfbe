import { defineConfig } from "vitest/config";
import { TEST_TIMEOUTS } from "../../scripts/test-timeouts.js";

// Apart from `npm test`: these need Chromium. One file after the other, as each has a browser and a server of its own.
export default defineConfig({
  test: {
    include: ["e2e/browser/*.browser.ts"],
    pool: "forks",
    fileParallelism: false,
    ...TEST_TIMEOUTS,
  },
});
