import { describe, expect, it } from "vitest";
import { createShardingState, placeShards } from "./create-sharding-state.js";

function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("createShardingState", () => {
  it("draws distinct names of 12 letters and digits", () => {
    const plan = { desiredCount: 5, virtualPerPhysical: 128, nodeNames: ["n"] };
    const state = createShardingState(plan, seeded(1));
    const names = [...state.shards.map((shard) => shard.name), ...state.virtualShards];
    expect(names).toHaveLength(5 + 640);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9]{12}$/);
  });

  it("draws again when a name comes twice", () => {
    let calls = 0;
    // The first two names are all 'a'; later ones vary.
    const random = (below: number) => (calls++ < 25 ? 0 : (calls * 7) % below);
    const state = createShardingState({ desiredCount: 2, virtualPerPhysical: 1, nodeNames: ["n"] }, random);
    expect(state.shards[0]?.name).toBe("aaaaaaaaaaaa");
    expect(state.shards[1]?.name).not.toBe("aaaaaaaaaaaa");
  });

  it("deals virtual shards equally", () => {
    const state = createShardingState({ desiredCount: 3, virtualPerPhysical: 7, nodeNames: ["n"] }, seeded(2));
    const counts = [0, 1, 2].map((shard) => state.assignments.filter((owner) => owner === shard).length);
    expect(counts).toEqual([7, 7, 7]);
  });

  it("survives JSON", () => {
    const state = createShardingState({ desiredCount: 2, virtualPerPhysical: 4, nodeNames: ["n"] }, seeded(3));
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });

  it("places round-robin from a random node on", () => {
    const placed = placeShards(["s1", "s2", "s3", "s4"], ["a", "b", "c"], () => 2);
    expect(placed.map((shard) => shard.members)).toEqual([["c"], ["a"], ["b"], ["c"]]);
    const firsts = new Set<string>();
    for (let seed = 0; seed < 40; seed++) {
      firsts.add(placeShards(["s"], ["a", "b", "c"], seeded(seed * 7919))[0]?.members[0] ?? "");
    }
    expect([...firsts].sort()).toEqual(["a", "b", "c"]);
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses the count %d", (count) => {
    const plan = { desiredCount: 1, virtualPerPhysical: 1, nodeNames: ["n"] };
    expect(() => createShardingState({ ...plan, desiredCount: count }, seeded(1))).toThrow("desiredCount must be");
    expect(() => createShardingState({ ...plan, virtualPerPhysical: count }, seeded(1))).toThrow("virtualPerPhysical");
  });

  it("refuses to place on no node", () => {
    expect(() => placeShards(["s"], [], () => 0)).toThrow("no storage node");
  });
});
