import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { testSeed } from "../random-objects.js";
import { FAULT_ROWS } from "./rows.js";

/** The rows that need nothing but the server and a C compiler, which the addon needs too; .ci/run runs the other ones. */
const rows = FAULT_ROWS.filter((row) => row.needs.every((need) => need === "C compiler"));

describe("faults, short form", () => {
  it.each(rows.map((row) => [row.id, row.title, row] as const))(
    "%s %s",
    async (id, _, row) => {
      const seed = testSeed();
      const { figures, failures } = await row.run({ size: "short", random: seededRandom(seed).next, say: () => {} });
      console.log(`${id} seed ${seed}: ${JSON.stringify(figures)}`);
      expect(failures).toEqual([]);
    },
    240_000,
  );
});
