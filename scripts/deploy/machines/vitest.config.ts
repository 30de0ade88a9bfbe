import { defineConfig } from "vitest/config";
import { TEST_TIMEOUTS } from "../../test-timeouts.js";

// Apart from `npm test`: these need root, etcd and a built repository.
export default defineConfig({
  test: { include: ["scripts/deploy/machines/*.guide.ts"], pool: "forks", ...TEST_TIMEOUTS },
});
