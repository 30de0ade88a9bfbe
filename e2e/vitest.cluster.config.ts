import { defineConfig } from "vitest/config";
import { TEST_TIMEOUTS } from "../scripts/test-timeouts.js";

// Apart from `npm test`: these need etcd, and root for what cuts links.
const ours = { pool: "forks", ...TEST_TIMEOUTS } as const;
const ANSWERS = ["e2e/src/cluster/{scenarios-*,oracle}.cluster.test.ts"];

export default defineConfig({
  test: {
    projects: [
      // Questions and answers alone: two clusters at a time.
      { test: { ...ours, name: "answers", include: ANSWERS, maxWorkers: 2, sequence: { groupOrder: 0 } } },
      // What does something to a cluster looks at the clock, too: one file after the other.
      {
        test: {
          ...ours,
          name: "faults",
          include: ["e2e/src/**/*.cluster.test.ts"],
          exclude: ANSWERS,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
