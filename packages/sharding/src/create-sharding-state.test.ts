import { randomBytes } from "node:crypto";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { createShardingState } from "./create-sharding-state.js";
import { Ring } from "./ring.js";

describe("createShardingState", () => {
  it("draws distinct names of 12 letters and digits", () => {
    const plan = { desiredCount: 5, virtualPerPhysical: 128, nodeNames: ["n"] };
    const state = createShardingState(plan, seededRandom(1).bytes);
    const names = [...state.shards.map((shard) => shard.name), ...state.virtualShards];
    expect(names).toHaveLength(5 + 640);
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9]{12}$/);
  });

  it("draws again when a name comes twice", () => {
    // The first letters are all 'a'; later ones vary.
    const zeros = (zeroCount: number) => {
      let drawn = 0;
      return (count: number) => Uint8Array.from({ length: count }, () => (drawn++ < zeroCount ? 0 : drawn * 7));
    };
    const state = createShardingState({ desiredCount: 2, virtualPerPhysical: 1, nodeNames: ["n"] }, zeros(24));
    expect(state.shards[0]?.name).toBe("aaaaaaaaaaaa");
    expect(state.shards[1]?.name).not.toBe("aaaaaaaaaaaa");
    // A shard's name, four bytes for its node, two virtual shards.
    const virtual = createShardingState({ desiredCount: 1, virtualPerPhysical: 3, nodeNames: ["n"] }, zeros(40));
    expect(virtual.virtualShards[0]).toBe("aaaaaaaaaaaa");
    expect(new Set(virtual.virtualShards).size).toBe(3);
  });

  it("draws every letter and digit equally often", () => {
    const state = createShardingState({ desiredCount: 1, virtualPerPhysical: 5_000, nodeNames: ["n"] }, randomBytes);
    const counts = new Map<string, number>();
    for (const letter of state.virtualShards.join("")) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 60,000 letters: 968 of each, standard deviation 31.
    for (const [letter, count] of counts) expect(Math.abs(count - 968), letter).toBeLessThan(200);
  });

  it("fails when the source of chance is empty", () => {
    const plan = { desiredCount: 1, virtualPerPhysical: 1, nodeNames: ["n"] };
    expect(() => createShardingState(plan, () => new Uint8Array(0))).toThrow("source of random bytes");
  });

  it("deals virtual shards equally", () => {
    const state = createShardingState(
      { desiredCount: 3, virtualPerPhysical: 7, nodeNames: ["n"] },
      seededRandom(2).bytes,
    );
    const counts = [0, 1, 2].map((shard) => state.assignments.filter((owner) => owner === shard).length);
    expect(counts).toEqual([7, 7, 7]);
  });

  it("survives JSON", () => {
    const state = createShardingState(
      { desiredCount: 2, virtualPerPhysical: 4, nodeNames: ["n"] },
      seededRandom(3).bytes,
    );
    expect(JSON.parse(JSON.stringify(state))).toEqual(state);
  });

  it("places round-robin from a random node on", () => {
    const four = { desiredCount: 4, virtualPerPhysical: 1, nodeNames: ["a", "b", "c"] };
    const placed = createShardingState(four, seededRandom(7).bytes).shards.flatMap(({ members }) => members);
    expect(["abca", "bcab", "cabc"]).toContain(placed.join(""));
    const firsts = new Set<string>();
    for (let seed = 0; seed < 40; seed++) {
      const plan = { desiredCount: 1, virtualPerPhysical: 1, nodeNames: ["a", "b", "c"] };
      firsts.add(createShardingState(plan, seededRandom(seed * 7919).bytes).shards[0]?.members[0] ?? "");
    }
    expect([...firsts].sort()).toEqual(["a", "b", "c"]);
  });

  it.each(Array.from({ length: 40 }, (_, seed) => seed))(
    "places the members of a shard on different nodes, as many on each, the first ones as without copies (seed %d)",
    (seed) => {
      const { below } = seededRandom(seed);
      const nodeNames = Array.from({ length: 1 + below(7) }, (_, at) => `n${at}`);
      const factor = 1 + below(nodeNames.length);
      const plan = { desiredCount: 1 + below(60), virtualPerPhysical: 2, nodeNames };
      const single = createShardingState(plan, seededRandom(seed).bytes);
      const { shards, ...ring } = createShardingState({ ...plan, factor }, seededRandom(seed).bytes);
      expect(shards.map(({ name, members }) => ({ name, members: members.slice(0, 1) }))).toEqual(single.shards);
      expect(ring).toEqual({ virtualShards: single.virtualShards, assignments: single.assignments });
      for (const { members } of shards) {
        expect(members).toHaveLength(factor);
        expect(new Set(members).size).toBe(factor);
      }
      const differenceOf = (counted: readonly string[]) => {
        const counts = nodeNames.map((name) => counted.filter((one) => one === name).length);
        return Math.max(...counts) - Math.min(...counts);
      };
      for (let at = 0; at < factor; at++) {
        // In whole rounds each node has one; two rounds may be incomplete.
        expect(differenceOf(shards.map(({ members }) => members[at] ?? ""))).toBeLessThanOrEqual(at === 0 ? 1 : 2);
      }
    },
  );

  it("spreads the other members of a node's shards over all other nodes", () => {
    const plan = { desiredCount: 40, virtualPerPhysical: 1, nodeNames: ["a", "b", "c", "d", "e"], factor: 3 };
    const { shards } = createShardingState(plan, seededRandom(5).bytes);
    for (const node of plan.nodeNames) {
      const seconds = shards.filter(({ members }) => members[0] === node).map(({ members }) => members[1] ?? "");
      expect(new Set(seconds).size).toBe(4);
    }
  });

  it("refuses more members than there are nodes", () => {
    const plan = { desiredCount: 1, virtualPerPhysical: 1, nodeNames: ["a", "b"] };
    expect(() => createShardingState({ ...plan, factor: 3 }, seededRandom(1).bytes)).toThrow(
      "factor must be at most 2",
    );
    expect(() => createShardingState({ ...plan, factor: 0 }, seededRandom(1).bytes)).toThrow(
      "factor must be an integer",
    );
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses the count %d", (count) => {
    const plan = { desiredCount: 1, virtualPerPhysical: 1, nodeNames: ["n"] };
    expect(() => createShardingState({ ...plan, desiredCount: count }, seededRandom(1).bytes)).toThrow(
      "desiredCount must be",
    );
    expect(() => createShardingState({ ...plan, virtualPerPhysical: count }, seededRandom(1).bytes)).toThrow(
      "virtualPerPhysical",
    );
  });

  it("refuses to place on no node", () => {
    const plan = { desiredCount: 1, virtualPerPhysical: 1, nodeNames: [] };
    expect(() => createShardingState(plan, seededRandom(1).bytes)).toThrow("no storage node");
  });

  it("makes the largest class that the model allows, and its ring, without holding up the process", () => {
    const plan = { desiredCount: 1_024, virtualPerPhysical: 128, nodeNames: ["n"] };
    const warm = createShardingState({ ...plan, desiredCount: 64 }, randomBytes);
    new Ring(warm);
    const cpuMs = (run: () => void) => {
      const from = process.cpuUsage();
      run();
      const { user, system } = process.cpuUsage(from);
      return (user + system) / 1_000;
    };
    let state = warm;
    // Three times of what is measured on an idle machine; names drawn one letter a call cost 600 ms.
    expect(
      cpuMs(() => {
        state = createShardingState(plan, randomBytes);
      }),
    ).toBeLessThan(300);
    expect(cpuMs(() => new Ring(state))).toBeLessThan(300);
  });
});
