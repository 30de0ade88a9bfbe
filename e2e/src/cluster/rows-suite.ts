import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { canRun, type FaultRow, titleOf } from "../faults/fault-row.js";
import { testSeed } from "../random-objects.js";

/** Tests of the rows in their short form. Those of `npm run nightly` are left out. */
export function describeRows(title: string, rows: readonly FaultRow[]): void {
  describe(title, () => {
    for (const row of rows.filter(({ isNightly }) => isNightly !== true)) {
      it.skipIf(!canRun(row))(`${row.id} ${titleOf(row)}`, async () => {
        const seed = testSeed();
        const said: string[] = [];
        const say = (line: string): void => void said.push(line);
        const { figures, failures } = await row.run({ size: "short", random: seededRandom(seed).next, say });
        console.log(`${row.id} seed ${seed}: ${JSON.stringify(figures)}`);
        expect(failures, said.join("\n")).toEqual([]);
      });
    }
  });
}
