import { type ObjectId, ShoalError } from "@shoal/model";
import type { ShardAddress } from "@shoal/rpc";
import type { IdPresenceFilter, Shard } from "@shoal/shard";
import { describe, expect, it } from "vitest";
import { findObjects } from "./find-objects.js";
import type { PlacedShard, ReadyShard } from "./shard-registry.js";

const id = (at: number) => `${at.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000` as ObjectId;

interface Placed {
  readonly has: (id: ObjectId) => boolean | Promise<boolean>;
  readonly opening?: Promise<void>;
}

function registryOf(shards: Readonly<Record<string, Placed>>, presenceFilter?: IdPresenceFilter) {
  const placed = Object.entries(shards).map(([name, { has, opening }]) => {
    const address: ShardAddress = { classId: name, className: name, shardName: "s" };
    const shard = { hasObject: has } as unknown as Shard;
    const ready = opening === undefined ? shard : undefined;
    return { address, response: [address] as const, ready, replica: undefined, opening, shard };
  });
  const all: readonly PlacedShard[] = placed;
  const ready = all.filter((one): one is ReadyShard => one.ready !== undefined);
  return {
    placed: { all, ready: ready.length === all.length ? ready : undefined, hasReplicas: false, presenceFilter },
    get: async (address: ShardAddress) => {
      const one = placed.find((each) => each.address === address);
      await one?.opening;
      if (one === undefined) throw new Error("no such shard");
      return one.shard;
    },
  };
}

const having = (...ids: ObjectId[]): Placed => ({ has: (asked) => ids.includes(asked) });

async function found(shards: Readonly<Record<string, Placed>>, ids: readonly ObjectId[], signal?: AbortSignal) {
  const { holders, unasked } = await findObjects(registryOf(shards), ids, signal);
  return {
    holders: holders.map((one) => one.map(({ classId }) => classId)),
    unasked: unasked.map(({ shard, error }) => `${shard.classId}: ${error.code}: ${error.message}`),
  };
}

describe("findObjects", () => {
  it("tells for each id the shards that have it, in the order of the ids", async () => {
    const shards = { a: having(id(1), id(2)), b: having(), c: having(id(2), id(3)) };
    const response = await found(shards, [id(2), id(9), id(3), id(1), id(2)]);
    expect(response).toEqual({ holders: [["a", "c"], [], ["c"], ["a"], ["a", "c"]], unasked: [] });
    expect(await found({}, [id(1)])).toEqual({ holders: [[]], unasked: [] });
    expect(await found(shards, [])).toEqual({ holders: [], unasked: [] });
  });

  it("waits for shards that are being opened, and tells those that cannot be", async () => {
    const opening = new Promise<void>((resolve) => setTimeout(resolve, 5));
    const failing = Promise.reject(new ShoalError("unavailable", "damaged"));
    failing.catch(() => undefined);
    const shards = { a: { ...having(id(1)), opening }, b: { ...having(id(1)), opening: failing }, c: having(id(1)) };
    expect(await found(shards, [id(1), id(2)])).toEqual({
      holders: [["a", "c"], []],
      unasked: ["b: unavailable: damaged"],
    });
  });

  it("waits for shards that look on their disk, and tells those that cannot", async () => {
    const shards: Readonly<Record<string, Placed>> = {
      a: { has: async (asked) => asked === id(1) },
      b: { has: () => Promise.reject(new ShoalError("unavailable", "disk")) },
      c: having(id(1)),
    };
    expect(await found(shards, [id(1)])).toEqual({ holders: [["a", "c"]], unasked: ["b: unavailable: disk"] });
  });

  it("asks no shard for an id that the presence filter rules out", async () => {
    const asked: ObjectId[] = [];
    const has = (one: ObjectId) => {
      asked.push(one);
      return one === id(2);
    };
    const presenceFilter = {
      mayHave: (one: ObjectId) => one !== id(1),
    } as Partial<IdPresenceFilter> as IdPresenceFilter;
    const { holders } = await findObjects(registryOf({ a: { has } }, presenceFilter), [id(1), id(2), id(3)], undefined);
    expect([holders.map((one) => one.length), asked]).toEqual([
      [0, 1, 0],
      [id(2), id(3)],
    ]);
  });

  it("does not believe a presence filter any more that a shard has left in between", async () => {
    const whole = { mayHave: () => false } as Partial<IdPresenceFilter> as IdPresenceFilter;
    const registry = registryOf({ a: having(id(60_000)) }, whole);
    setImmediate(() => {
      registry.placed = { ...registry.placed, ready: undefined, presenceFilter: undefined };
    });
    const ids = Array.from({ length: 60_001 }, (_, at) => id(at));
    const { holders } = await findObjects(registry, ids, undefined);
    expect(holders.at(-1)).toHaveLength(1);
  });

  it("yields during long questions, and ends with its signal", async () => {
    const shards = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`c${at}`, having()]));
    const ids = Array.from({ length: 5_000 }, (_, at) => id(at));
    let iterations = 0;
    const timer = setInterval(() => iterations++, 0);
    await found(shards, ids);
    clearInterval(timer);
    expect(iterations).toBeGreaterThan(3);
    const controller = new AbortController();
    setImmediate(() => controller.abort(new ShoalError("deadlineExceeded", "too late")));
    await expect(found(shards, ids, controller.signal)).rejects.toMatchObject({ message: "too late" });
  });
});
