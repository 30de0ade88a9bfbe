import { defineConfig } from "vitest/config";
import { TEST_TIMEOUTS } from "../scripts/test-timeouts.js";

// Apart from `npm test`: these need etcd, and root for what cuts links.
const ours = { pool: "forks", ...TEST_TIMEOUTS } as const;
const ALL = ["e2e/src/**/*.cluster.test.ts"];
const ANSWERS = ["e2e/src/cluster/{scenarios-*,oracle}.cluster.test.ts"];
/** They say how long writes may be away, or look for what any network of this machine has left behind. */
const ALONE = ["e2e/src/cluster/{faults-of-copies,cleanup}.cluster.test.ts"];

export default defineConfig({
  test: {
    projects: [
      { test: { ...ours, name: "answers", include: ANSWERS, maxWorkers: 2, sequence: { groupOrder: 0 } } },
      // Most of their time they wait for a node that is away.
      {
        test: {
          ...ours,
          name: "faults",
          include: ALL,
          exclude: [...ANSWERS, ...ALONE],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...ours, name: "alone", include: ALONE, fileParallelism: false, sequence: { groupOrder: 2 } } },
    ],
  },
});
