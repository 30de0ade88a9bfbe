import { defineConfig } from "vitest/config";
import { TEST_TIMEOUTS } from "../../test-timeouts.js";

// Apart from `npm test`: these need buildah and root.
export default defineConfig({
  test: { include: ["scripts/deploy/images/*.image.ts"], pool: "forks", ...TEST_TIMEOUTS, hookTimeout: 1_200_000 },
});
