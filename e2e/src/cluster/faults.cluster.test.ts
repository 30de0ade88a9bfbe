import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { testSeed } from "../random-objects.js";
import { CLUSTER_ROWS } from "./rows/cluster-rows.js";

describe("faults on a cluster, short form", () => {
  it.each(CLUSTER_ROWS.map((row) => [row.id, row.title, row] as const))(
    "%s %s",
    async (id, _, row) => {
      const seed = testSeed();
      const said: string[] = [];
      const say = (line: string): void => void said.push(line);
      const { figures, failures } = await row.run({ size: "short", random: seededRandom(seed).next, say });
      console.log(`${id} seed ${seed}: ${JSON.stringify(figures)}`);
      expect(failures, said.join("\n")).toEqual([]);
    },
    180_000,
  );
});
