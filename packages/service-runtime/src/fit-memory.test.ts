import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { readConfiguration } from "./configuration.js";
import { environmentSource } from "./setting.js";
import { SETTINGS } from "./setting-groups.js";

const MIB = 1024 * 1024;

function read(limitMib: number, environment: Readonly<Record<string, string>> = {}) {
  const warnings: string[] = [];
  const limit = { bytes: limitMib * MIB, source: "memory.max of control group /x" };
  const configuration = readConfiguration([environmentSource(environment)], (line) => warnings.push(line), limit);
  return { configuration, warnings };
}

describe("the memory budget", () => {
  it("is 80 % of what there is, or what is set", () => {
    expect(read(1_000).configuration.memoryBudgetBytes).toBe(800 * MIB);
    expect(read(1_000, { MEMORY_BUDGET_BYTES: String(300 * MIB) }).configuration.memoryBudgetBytes).toBe(300 * MIB);
    expect(read(1_000, { MEMORY_BUDGET_BYTES: "" }).configuration.memoryBudgetBytes).toBe(800 * MIB);
  });

  it.each(["0", "1000000", "-1", "80%", "lots", "512MiB", "1e9", "99999999999999999"])("is not %s", (value) => {
    expect(() => read(1_000, { MEMORY_BUDGET_BYTES: value })).toThrow(
      `MEMORY_BUDGET_BYTES must be a whole number from ${128 * MIB} to ${2 ** 50}, got "${value}"`,
    );
  });

  it("warns of one that is more than there is", () => {
    const { warnings } = read(600, { MEMORY_BUDGET_BYTES: String(700 * MIB) });
    expect(warnings).toEqual([
      `MEMORY_BUDGET_BYTES is ${700 * MIB}, more than the ${600 * MIB} bytes of memory.max of control group /x: the process ` +
        "may be killed for its memory before it refuses anything",
    ]);
  });

  it("bounds the defaults of caches and requests, and no value that is set", () => {
    const { configuration, warnings } = read(600);
    expect(warnings).toEqual([]);
    expect(configuration).toMatchObject({
      rowCacheBytes: 30 * MIB,
      indexCacheBytes: 30 * MIB,
      storeMemoryBytes: 30 * MIB,
      requestBodiesBytesMax: 60 * MIB,
      answersBytesMax: 60 * MIB,
      heldRequestBytesMax: 60 * MIB,
    });
    const set = read(600, { ROW_CACHE_BYTES: String(64 * MIB) });
    expect(set.configuration.rowCacheBytes).toBe(64 * MIB);
    const unbounded = readConfiguration([], () => {});
    expect(read(16_384).configuration).toEqual({
      ...unbounded,
      memoryBudgetBytes: Math.floor(16_384 * MIB * 0.8),
    });
  });

  it("warns of settings that leave too little for data", () => {
    const { warnings } = read(600, { REQUEST_BODIES_BYTES_MAX: String(512 * MIB) });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /^REQUEST_BODIES_BYTES_MAX 536870912, .* more than three quarters of MEMORY_BUDGET_BYTES/,
    );
  });

  it("has defaults that their own rules allow, whatever it is", () => {
    const { below } = seededRandom(29);
    for (let round = 0; round < 300; round++) {
      const budget = Math.floor(128 * MIB * 2 ** (below(1_000) / 100));
      const { configuration, warnings } = read(2 ** 20, { MEMORY_BUDGET_BYTES: String(budget) });
      expect(warnings).toEqual([]);
      for (const { variable, fallback, fallbackPart = 0 } of SETTINGS) {
        if (fallbackPart === 0) continue;
        const found = Object.values(configuration).includes(
          Math.min(Number(fallback), Math.floor(budget * fallbackPart)),
        );
        expect(found, variable).toBe(true);
      }
    }
  });
});
