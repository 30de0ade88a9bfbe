import { type ObjectId, objectIdFromBytes, objectIdToBytes } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { createShardingState } from "./create-sharding-state.js";
import { Ring } from "./ring.js";
import type { ShardingState } from "./sharding-state.js";
import { bitsOf } from "./testing/bits-of.js";

function randomId({ bytes }: SeededRandom): ObjectId {
  return objectIdFromBytes(bytes(16));
}

function stateOf(desiredCount: number, virtualPerPhysical: number, seed: number): ShardingState {
  return createShardingState({ desiredCount, virtualPerPhysical, nodeNames: ["a", "b"] }, seededRandom(seed).bytes);
}

/** Virtual shards by rising bound. */
function pointsOf({ virtualShards, assignments, shards }: ShardingState) {
  return virtualShards
    .map((name, i) => ({ upper: bitsOf(Buffer.from(name, "latin1")), shard: shards[assignments[i] ?? -1]?.name }))
    .sort((a, b) => (a.upper < b.upper ? -1 : 1));
}

/** Section 5.3 word for word: a linear walk over bounds sorted as BigInt. */
function oracle(state: ShardingState, id: ObjectId): string | undefined {
  const token = bitsOf(objectIdToBytes(id));
  const points = pointsOf(state);
  return (points.find((point) => token <= point.upper) ?? points[0])?.shard;
}

describe("Ring", () => {
  it.each([
    [1, 1],
    [1, 128],
    [2, 1],
    [3, 5],
    [4, 128],
    [13, 64],
  ])("routes like the oracle with %i shards of %i virtual shards", (count, virtual) => {
    const state = stateOf(count, virtual, count * 1000 + virtual);
    const ring = new Ring(state);
    const random = seededRandom(99);
    for (let i = 0; i < 2_000; i++) {
      const id = randomId(random);
      expect(ring.shardOf(id).name, id).toBe(oracle(state, id));
      expect(state.shards[ring.shardIndexOf(id)]).toBe(ring.shardOf(id));
    }
  });

  it("wraps: a token above the last bound belongs to the first virtual shard", () => {
    const state = stateOf(2, 1, 5);
    const ring = new Ring(state);
    const random = seededRandom(7);
    const points = pointsOf(state);
    const last = points.at(-1);
    let wrapped = 0;
    for (let i = 0; i < 1_000; i++) {
      const id = randomId(random);
      if (bitsOf(objectIdToBytes(id)) <= (last?.upper ?? 0n)) continue;
      wrapped++;
      expect(ring.shardOf(id).name).toBe(points[0]?.shard);
    }
    expect(wrapped).toBeGreaterThan(10);
  });

  /** A name whose bytes are those of `id`: as a virtual shard, its bound is the token of the id. */
  const nameOf = (id: ObjectId) => String.fromCharCode(...objectIdToBytes(id));

  it("gives a token that equals a bound to the shard of that bound", () => {
    const random = seededRandom(21);
    const virtualShards = Array.from({ length: 50 }, () => nameOf(randomId(random)));
    const shards = virtualShards.map((_, i) => ({ name: `s${i}`, members: ["n"] }));
    const ring = new Ring({ shards, virtualShards, assignments: shards.map((_, i) => i) });
    const again = seededRandom(21);
    for (let i = 0; i < 50; i++) expect(ring.shardIndexOf(randomId(again))).toBe(i);
  });

  it("compares the low halves of tokens whose high halves are equal", () => {
    const random = seededRandom(22);
    const byHigh = new Map<bigint, ObjectId>();
    let pairs = 0;
    while (pairs < 3) {
      const id = randomId(random);
      const token = bitsOf(objectIdToBytes(id));
      const twin = byHigh.get(token >> 32n);
      byHigh.set(token >> 32n, id);
      if (twin === undefined || twin === id) continue;
      pairs++;
      const [low, high] = token < bitsOf(objectIdToBytes(twin)) ? [id, twin] : [twin, id];
      const shards = ["low", "high"].map((name) => ({ name, members: ["n"] }));
      const ring = new Ring({ shards, virtualShards: [nameOf(low), nameOf(high)], assignments: [0, 1] });
      expect([ring.shardOf(low).name, ring.shardOf(high).name]).toEqual(["low", "high"]);
      const alone = new Ring({ shards, virtualShards: [nameOf(low), "abcdefghijkl"], assignments: [0, 1] });
      expect(alone.shardOf(high).name, `${low} ${high}`).toBe(
        oracle({ shards, virtualShards: [nameOf(low), "abcdefghijkl"], assignments: [0, 1] }, high),
      );
    }
  });

  it("spreads objects evenly and in proportion to what the bounds leave to each shard", () => {
    const state = stateOf(4, 128, 11);
    const ring = new Ring(state);
    const shares = [0, 0, 0, 0];
    const points = pointsOf(state);
    points.forEach(({ upper, shard }, i) => {
      const owner = state.shards.findIndex(({ name }) => name === shard);
      const width = BigInt.asUintN(64, upper - (points.at(i - 1)?.upper ?? 0n));
      shares[owner] = (shares[owner] ?? 0) + Number(width) / 2 ** 64;
    });
    expect(shares.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9);
    const random = seededRandom(12);
    const counts = [0, 0, 0, 0];
    const total = 40_000;
    for (let i = 0; i < total; i++) {
      const shard = ring.shardIndexOf(randomId(random));
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    counts.forEach((count, shard) => {
      expect(shares[shard]).toBeGreaterThan(0.15);
      expect(Math.abs(count / total - (shares[shard] ?? 0))).toBeLessThan(0.01);
    });
  });

  it("refuses states that contradict themselves", () => {
    const shards = [{ name: "s", members: ["n"] }];
    expect(() => new Ring({ shards, virtualShards: [], assignments: [] })).toThrow("0 virtual shards");
    expect(() => new Ring({ shards, virtualShards: ["a"], assignments: [] })).toThrow("0 assignments");
    expect(() => new Ring({ shards, virtualShards: ["a"], assignments: [1] })).toThrow("assigned to shard 1 of 1");
  });
});
