import { NOT_FOUND, type RecallProbe, STAGES } from "@shoal/native";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { candidatesAt, candidatesUpTo, fitEffort, recallOf } from "./fit-effort.js";

const CANDIDATES = candidatesUpTo(512);
const MOST = 512;

/** Queries whose difficulty stands in their contrast; of the results behind the tenth, the share `unreachable` is never found. */
function drawProbes(random: SeededRandom, unreachable: number): RecallProbe[] {
  return Array.from({ length: 256 }, () => {
    const difficulty = random.next();
    const needed = (results: number): Uint32Array =>
      Uint32Array.from({ length: results }, (_, place) => {
        const takes = Math.ceil(4 + 120 * difficulty * random.next() ** 2);
        return place >= 10 && random.next() < unreachable ? NOT_FOUND : takes;
      });
    const walk = (results: number) => ({
      needed: needed(results),
      contrasts: Float32Array.from(STAGES, () => 0.5 + 0.4 * difficulty),
      tenths: Float32Array.from(STAGES, () => 0.3),
    });
    const measured = Uint32Array.from(CANDIDATES, (number) => 20 * number);
    return { linked: 1_000_000, all: walk(100), quarter: walk(10), measured };
  });
}

describe("the effort that is fitted to probes (F17)", () => {
  for (const seed of [1, 2, 3]) {
    it(`reaches the target, with more candidates for queries of more contrast: seed ${seed}`, async () => {
      for (const target of [0.9, 0.98]) {
        const fit = await fitEffort(drawProbes(seededRandom(seed), 0), CANDIDATES, target);
        expect(fit.reached).toBe(true);
        expect(fit.recall - fit.error).toBeGreaterThanOrEqual(target);
        const { knots } = fit.effort;
        const ascends = (values: readonly number[]): boolean =>
          values.every((value, at) => value >= (values[at - 1] ?? 0));
        expect(ascends(knots.map(({ contrast }) => contrast))).toBe(true);
        expect(ascends(knots.map(({ candidates }) => candidates))).toBe(true);
        expect(candidatesAt(knots, 0.88)).toBeGreaterThan(1.5 * candidatesAt(knots, 0.55));
      }
    });

    it(`keeps no more for a hundred results than find what can be found of them: seed ${seed}`, async () => {
      const probes = drawProbes(seededRandom(seed), 0.05);
      const { effort } = await fitEffort(probes, CANDIDATES, 0.98);
      const found = (factor: number): number => {
        const kept = probes.map(({ all }) => {
          const contrast = all.contrasts[STAGES.indexOf(effort.stage)] ?? 1;
          return Math.min(MOST, Math.max(100, effort.stage, factor * candidatesAt(effort.knots, contrast)));
        });
        const needed = probes.map(({ all }) => all.needed);
        return recallOf(needed, 100, kept).recall;
      };
      expect(found(effort.ofHundred)).toBe(found(100));
      expect(effort.ofHundred).toBeLessThan(4);
    });
  }
});
