import { describe, expect, it } from "vitest";
import { filesOfStore, openFilesLimit, planFor, planOpenFiles, shardLimit, shortage } from "./open-files.js";

const wanted = { shardsMax: 2_000, connectionsMax: 10_000 };

describe("planOpenFiles", () => {
  it("gives what was wanted where there is room for it", () => {
    for (const limit of [40_000, 1_048_576, Number.POSITIVE_INFINITY]) {
      const plan = planOpenFiles(limit, wanted);
      expect(plan).toEqual({ limit, ...wanted });
      expect(shortage(plan, wanted)).toBeUndefined();
      expect(shardLimit(plan, 2_000)).toEqual({ max: 2_000, reason: "SCHEMA_SHARDS_MAX" });
    }
  });

  it("divides what there is among shards and connections, and says so with numbers", () => {
    const plan = planOpenFiles(20_000, wanted);
    expect(plan).toEqual({ limit: 20_000, shardsMax: 1_324, connectionsMax: 6_624 });
    expect(shortage(plan, wanted)).toBe(
      "this process may have 20000 open files (ulimit -n), enough for 1324 shards (SCHEMA_SHARDS_MAX: 2000) and " +
        "6624 connections (HTTP_CONNECTIONS_MAX: 10000)",
    );
    expect(shardLimit(plan, 2_000)).toEqual({
      max: 1_324,
      reason: "this process may have 20000 open files: ulimit -n",
    });
  });

  it("never plans more files than there are, and what it allows can be opened again", () => {
    for (let limit = 176; limit < 70_000; limit += 37) {
      const plan = planOpenFiles(limit, wanted);
      expect(plan.shardsMax).toBeGreaterThan(0);
      expect(plan.connectionsMax).toBeGreaterThanOrEqual(16);
      expect(128 + 10 * plan.shardsMax + plan.connectionsMax).toBeLessThanOrEqual(limit);
      expect(planFor(plan.shardsMax, plan)).toEqual(plan);
    }
  });

  it("refuses to work with next to nothing", () => {
    expect(() => planOpenFiles(175, wanted)).toThrow(
      "this process may have 175 open files, at least 176 are needed: raise the limit (ulimit -n)",
    );
  });
});

describe("planFor", () => {
  it("gives shards that there are already what they need, and connections the rest", () => {
    expect(planFor(1_900, planOpenFiles(20_000, wanted)).connectionsMax).toBe(872);
  });

  it("refuses a schema that cannot be opened, naming the files it needs", () => {
    const plan = planOpenFiles(20_000, wanted);
    expect(() => planFor(6_144, plan)).toThrow(
      "the 6144 shards of the schema need 61584 open files, this process may have 20000: raise the limit (ulimit -n)",
    );
    expect(planFor(6_144, planOpenFiles(61_584, wanted)).connectionsMax).toBe(16);
  });
});

it("gives each store its share of the files", () => {
  const plan = planOpenFiles(20_000, wanted);
  expect([0, 1, 52, 100, 1_324].map((shards) => filesOfStore(shards, plan))).toEqual([256, 256, 254, 132, 32]);
  expect(filesOfStore(1_000, planOpenFiles(Number.POSITIVE_INFINITY, wanted))).toBe(256);
});

it("knows the limit of this process", () => {
  expect(openFilesLimit()).toBeGreaterThan(100);
});
