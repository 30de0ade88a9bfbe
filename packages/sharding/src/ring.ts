import { type ObjectId, ShoalError, writeObjectId } from "@shoal/model";
import { murmur3, murmur3Words } from "./murmur3.js";
import type { PhysicalShard, ShardingState, VirtualShard } from "./sharding-state.js";

const idBytes = new Uint8Array(16);
const token = new Uint32Array(2);

/**
 * The hash ring of one class: which shard owns an id. The token of an id is murmur3 of its 16 raw bytes; it belongs to
 * the first virtual shard whose bound is not below it, and past the last bound to the first one
 * (reference-rest 5.3). Immutable; build it once for each ShardingState.
 */
export class Ring {
  /** Virtual shards by rising bound. */
  readonly virtualShards: readonly VirtualShard[];
  readonly #shards: readonly PhysicalShard[];
  readonly #upperHigh: Uint32Array;
  readonly #upperLow: Uint32Array;
  /** Index in the state's `shards` of the owner of each virtual shard. */
  readonly #owner: Uint32Array;

  /** Fails with `internal` when the state contradicts itself. */
  constructor(state: ShardingState) {
    const points = sortedPoints(state);
    this.virtualShards = points.map(({ name, upper, shard }) => ({ name, upper, shard }));
    this.#shards = state.shards;
    this.#upperHigh = Uint32Array.from(points, (point) => Number(point.upper >> 32n));
    this.#upperLow = Uint32Array.from(points, (point) => Number(point.upper & 0xffffffffn));
    this.#owner = Uint32Array.from(points, (point) => point.owner);
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
    murmur3Words(wordAt(0), wordAt(4), wordAt(8), wordAt(12), token);
    return this.#owner[this.#firstNotBelow(token[0] ?? 0, token[1] ?? 0)] ?? 0;
  }

  /** Share of the hash space, 0 to 1, that each shard owns, in the order of the state's `shards`. */
  ownedShares(): readonly number[] {
    const shares = this.#shards.map(() => 0);
    this.virtualShards.forEach((point, index) => {
      const before = this.virtualShards.at(index - 1)?.upper ?? 0n;
      const owner = this.#owner[index] ?? 0;
      const width = this.virtualShards.length === 1 ? 1n << 64n : BigInt.asUintN(64, point.upper - before);
      shares[owner] = (shares[owner] ?? 0) + Number(width) / 2 ** 64;
    });
    return shares;
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

interface RingPoint extends VirtualShard {
  readonly owner: number;
}

function sortedPoints(state: ShardingState): RingPoint[] {
  if (state.virtualShards.length === 0 || state.virtualShards.length !== state.assignments.length) {
    const counts = `${state.virtualShards.length} virtual shards and ${state.assignments.length} assignments`;
    throw new ShoalError("internal", `a sharding state needs an owner for each virtual shard, got ${counts}`);
  }
  const points = state.virtualShards.map((name, index) => {
    const owner = state.assignments[index] ?? -1;
    const shard = state.shards[owner]?.name;
    if (shard === undefined) {
      throw new ShoalError(
        "internal",
        `virtual shard '${name}' is assigned to shard ${owner} of ${state.shards.length}`,
      );
    }
    return { name, upper: murmur3(Buffer.from(name, "ascii")), shard, owner };
  });
  // Equal bounds cannot be drawn (createShardingState refuses them); the name keeps the order total all the same.
  return points.sort((a, b) => (a.upper < b.upper ? -1 : a.upper > b.upper ? 1 : a.name < b.name ? -1 : 1));
}

function wordAt(at: number): number {
  return (
    (idBytes[at] ?? 0) | ((idBytes[at + 1] ?? 0) << 8) | ((idBytes[at + 2] ?? 0) << 16) | ((idBytes[at + 3] ?? 0) << 24)
  );
}
