import { ShoalError } from "@shoal/model";
import { virtualBound } from "./murmur3.js";
import { type RandomBytes, RandomLetters } from "./random-letters.js";
import type { ShardingState } from "./sharding-state.js";

export interface ShardingPlan {
  /** Number of shards, at least 1. */
  readonly desiredCount: number;
  /** Virtual shards for each shard, at least 1. */
  readonly virtualPerPhysical: number;
  /** Names of the storage nodes, at least one. */
  readonly nodeNames: readonly string[];
  /** Members of each shard, on as many different nodes; 1 when absent. */
  readonly factor?: number | undefined;
}

const NAME_CHARS = 12;

/**
 * The sharding of a new class (reference-rest 5.2): shards and virtual shards get random names of 12 letters and
 * digits; shards go round-robin over the nodes from a random one on; virtual shards go round-robin over the shards. The
 * names are drawn independently of each other, so dealing them in drawn order is the same as shuffling them first.
 * Of several members the first ones are placed so; the others of a node's shards are spread over all other nodes.
 * Fails with `invalid` on counts below 1, `unavailable` without nodes, and `invalid` with fewer than `factor`.
 */
export function createShardingState(plan: ShardingPlan, randomBytes: RandomBytes): ShardingState {
  requireCount("desiredCount", plan.desiredCount);
  requireCount("virtualPerPhysical", plan.virtualPerPhysical);
  const random = new RandomLetters(randomBytes);
  const taken = new Set<string>();
  // Compared in lower case: two folders may not differ in case only, some file systems fold it.
  const names = Array.from({ length: plan.desiredCount }, () => newName(random, taken, (name) => name.toLowerCase()));
  const { nodeNames, factor = 1 } = plan;
  requireCount("factor", factor);
  if (nodeNames.length === 0) throw new ShoalError("unavailable", "there is no storage node to place shards on");
  if (factor > nodeNames.length) {
    throw new ShoalError("invalid", `factor must be at most ${nodeNames.length}, the number of nodes, got ${factor}`);
  }
  const first = random.below(nodeNames.length);
  const shards = names.map((name, index) => ({ name, members: membersOf(first + index, factor, nodeNames) }));
  const bounds = new Set<number>();
  const virtualShards: string[] = [];
  const assignments: number[] = [];
  for (let index = 0; index < plan.desiredCount * plan.virtualPerPhysical; index++) {
    virtualShards.push(newName(random, bounds, startOf));
    assignments.push(index % plan.desiredCount);
  }
  return { shards, virtualShards, assignments };
}

/**
 * The nodes of the shard at that place of the round-robin. In each round the other members are so many nodes further on, one more
 * in the next: who takes over from a node that is lost is not always the same one.
 */
function membersOf(place: number, factor: number, nodeNames: readonly string[]): readonly string[] {
  const count = nodeNames.length;
  const round = Math.floor(place / count);
  return Array.from({ length: factor }, (_, at) => {
    const further = at === 0 ? 0 : 1 + ((round + at - 1) % (count - 1));
    return nodeNames[(place + further) % count] as string;
  });
}

function requireCount(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new ShoalError("invalid", `${name} must be an integer of at least 1, got ${value}`);
}

/** A random name whose key none of the others has. */
function newName<Key>(random: RandomLetters, taken: Set<Key>, keyOf: (name: string) => Key): string {
  for (;;) {
    const name = random.name(NAME_CHARS);
    const key = keyOf(name);
    if (taken.has(key)) continue;
    taken.add(key);
    return name;
  }
}

/** The first 53 bits of the bound: those of all virtual shards differ in these already. */
function startOf(name: string): number {
  const { high, low } = virtualBound(name);
  return high * 2 ** 21 + (low >>> 11);
}
