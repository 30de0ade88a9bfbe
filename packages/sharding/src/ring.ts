import { type ObjectId, ShoalError, writeObjectId } from "@shoal/model";
import { murmur3Block, virtualBound } from "./murmur3.js";
import type { PhysicalShard, ShardingState } from "./sharding-state.js";

const idBytes = new Uint8Array(16);
const token = new Uint32Array(2);

/**
 * The hash ring of one class: which shard owns an id. The token of an id is murmur3 of its 16 raw bytes; it belongs to
 * the first virtual shard whose bound is not below it, and past the last bound to the first one
 * (reference-rest 5.3). Immutable; build it once for each ShardingState.
 */
export class Ring {
  readonly #shards: readonly PhysicalShard[];
  readonly #upperHigh: Uint32Array;
  readonly #upperLow: Uint32Array;
  /** Index in the state's `shards` of the owner of each bound. */
  readonly #owner: Uint32Array;

  /** Fails with `internal` when the state contradicts itself. */
  constructor(state: ShardingState) {
    checkAssignments(state);
    const { virtualShards, assignments } = state;
    const high = new Uint32Array(virtualShards.length);
    const low = new Uint32Array(virtualShards.length);
    virtualShards.forEach((name, index) => {
      const bound = virtualBound(name);
      high[index] = bound.high;
      low[index] = bound.low;
    });
    this.#shards = state.shards;
    const order = sortedOrder(high, low);
    this.#upperHigh = order.map((index) => high[index] ?? 0);
    this.#upperLow = order.map((index) => low[index] ?? 0);
    this.#owner = order.map((index) => assignments[index] ?? 0);
  }

  /** The shard that owns `id`. */
  shardOf(id: ObjectId): PhysicalShard {
    const shard = this.#shards[this.shardIndexOf(id)];
    if (shard === undefined) throw new ShoalError("internal", `the ring has no shard for object '${id}'`);
    return shard;
  }

  /** The index in the state's `shards` of the owner of `id`. Allocates nothing. */
  shardIndexOf(id: ObjectId): number {
    if (this.#shards.length === 1) return 0;
    writeObjectId(id, idBytes);
    murmur3Block(idBytes, token);
    return this.#owner[this.#firstNotBelow(token[0] ?? 0, token[1] ?? 0)] ?? 0;
  }

  /** Index of the first bound that is not below the token; behind the last one the first (the ring wraps). */
  #firstNotBelow(high: number, low: number): number {
    let from = 0;
    let to = this.#upperHigh.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const upperHigh = this.#upperHigh[middle] ?? 0;
      if (upperHigh < high || (upperHigh === high && (this.#upperLow[middle] ?? 0) < low)) from = middle + 1;
      else to = middle;
    }
    return from === this.#upperHigh.length ? 0 : from;
  }
}

function checkAssignments({ shards, virtualShards, assignments }: ShardingState): void {
  if (virtualShards.length === 0 || virtualShards.length !== assignments.length) {
    const counts = `${virtualShards.length} virtual shards and ${assignments.length} assignments`;
    throw new ShoalError("internal", `a sharding state needs an owner for each virtual shard, got ${counts}`);
  }
  const stray = assignments.findIndex((owner) => shards[owner] === undefined);
  if (stray < 0) return;
  throw new ShoalError(
    "internal",
    `virtual shard '${virtualShards[stray]}' is assigned to shard ${assignments[stray]} of ${shards.length}`,
  );
}

/**
 * The indexes of the bounds in rising order; equal ones (createShardingState draws none) keep the order of the state.
 * Radix sort, a byte at a time from the lowest: a class may have a hundred thousand bounds, and comparing costs ten
 * times as much.
 */
function sortedOrder(high: Uint32Array, low: Uint32Array): Uint32Array {
  let order = Uint32Array.from(high, (_, index) => index);
  let next = new Uint32Array(order.length);
  for (const half of [low, high]) {
    for (let shift = 0; shift < 32; shift += 8) {
      const starts = new Uint32Array(257);
      for (const value of half) {
        const after = ((value >>> shift) & 255) + 1;
        starts[after] = (starts[after] ?? 0) + 1;
      }
      for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] ?? 0) + (starts[i - 1] ?? 0);
      for (const index of order) {
        const digit = ((half[index] ?? 0) >>> shift) & 255;
        const place = starts[digit] ?? 0;
        starts[digit] = place + 1;
        next[place] = index;
      }
      [order, next] = [next, order];
    }
  }
  return order;
}
