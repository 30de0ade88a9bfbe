import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { testSeed } from "../random-objects.js";
import { canRun, titleOf } from "./fault-row.js";
import { FAULT_ROWS } from "./rows.js";

/** The rows of one process that need nothing but the server and a C compiler; .ci/run runs the other ones. */
const rows = FAULT_ROWS.filter((row) => row.on === undefined && row.needs.every((need) => need === "C compiler"));

describe("faults, short form", () => {
  for (const row of rows) {
    it.skipIf(!canRun(row))(
      `${row.id} ${titleOf(row)}`,
      async () => {
        const seed = testSeed();
        const { figures, failures } = await row.run({ size: "short", random: seededRandom(seed).next, say: () => {} });
        console.log(`${row.id} seed ${seed}: ${JSON.stringify(figures)}`);
        expect(failures).toEqual([]);
      },
      240_000,
    );
  }
});
