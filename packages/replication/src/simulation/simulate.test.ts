import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { shrink } from "./shrink.js";
import { simulate } from "./simulated-cluster.js";

/** `npm run simulate` runs as many as one likes, with fresh seeds. */
const SEEDS = Number(process.env.SHOAL_SIMULATION_SEEDS ?? 60);

describe("simulate", () => {
  it(`loses nothing and answers nothing wrong under ${SEEDS} seeds`, { timeout: SEEDS * 1_000 }, () => {
    let acknowledged = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const result = simulate({ seed });
      expect(result.failure, `seed ${seed}`).toBeUndefined();
      acknowledged += result.acknowledged;
    }
    // Clients get something done, whatever fails.
    expect(acknowledged / SEEDS).toBeGreaterThan(50);
  });

  it("does the same to the byte under the same seed", () => {
    const digest = (seed: number): string => {
      const hash = createHash("sha256");
      simulate({ seed, trace: (line) => hash.update(`${line}\n`) });
      return hash.digest("hex");
    };
    expect(digest(7)).toBe(digest(7));
    expect(digest(7)).not.toBe(digest(8));
  });

  it("makes what fails small, and fails again with what is left", () => {
    const wrong = "reads without a lease";
    let seed = 1;
    while (simulate({ seed, wrong }).failure === undefined) seed++;
    const { options, result } = shrink({ seed, wrong });
    expect(result.failure).toBeDefined();
    expect(options.faults?.length).toBeLessThan(result.faults.length);
    expect(simulate(options).failure).toBe(result.failure);
    expect(simulate({ ...options, wrong: undefined }).failure).toBeUndefined();
  });
});
