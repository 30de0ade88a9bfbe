import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { canRun, titleOf } from "../faults/fault-row.js";
import { testSeed } from "../random-objects.js";
import { CLUSTER_ROWS } from "./rows/cluster-rows.js";

describe("faults on a cluster, short form", () => {
  for (const row of CLUSTER_ROWS.filter(({ isNightly }) => isNightly !== true)) {
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
