import { defineConfig } from "vitest/config";
import { PATIENCE } from "../../patience.js";

// Apart from `npm test`: these need buildah and root.
export default defineConfig({
  test: { include: ["scripts/deploy/images/*.image.ts"], pool: "forks", ...PATIENCE, hookTimeout: 1_200_000 },
});
