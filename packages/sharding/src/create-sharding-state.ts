import { ShoalError } from "@shoal/model";
import { murmur3 } from "./murmur3.js";
import type { PhysicalShard, ShardingState } from "./sharding-state.js";

/** A uniformly random integer from 0 up to but not including `below`. */
export type RandomInteger = (below: number) => number;

export interface ShardingPlan {
  /** Number of shards, at least 1. */
  readonly desiredCount: number;
  /** Virtual shards for each shard, at least 1. */
  readonly virtualPerPhysical: number;
  /** Names of the storage nodes, at least one. */
  readonly nodeNames: readonly string[];
}

const NAME_CHARS = 12;
const ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/**
 * The sharding of a new class (reference-rest 5.2): shards and virtual shards get random names of 12 letters and
 * digits; shards go round-robin over the nodes from a random one on; virtual shards go round-robin over the shards. The
 * names are drawn independently of each other, so dealing them in drawn order is the same as shuffling them first.
 * Fails with `invalid` on counts below 1 and `unavailable` without nodes.
 */
export function createShardingState(plan: ShardingPlan, random: RandomInteger): ShardingState {
  requireCount("desiredCount", plan.desiredCount);
  requireCount("virtualPerPhysical", plan.virtualPerPhysical);
  const taken = new Set<string>();
  const names = Array.from({ length: plan.desiredCount }, () => newShardName(random, taken));
  const shards = placeShards(names, plan.nodeNames, random);
  const bounds = new Set<bigint>();
  const virtualShards: string[] = [];
  const assignments: number[] = [];
  for (let index = 0; index < plan.desiredCount * plan.virtualPerPhysical; index++) {
    virtualShards.push(newVirtualName(random, taken, bounds));
    assignments.push(index % plan.desiredCount);
  }
  return { shards, virtualShards, assignments };
}

/**
 * Gives each shard its node, round-robin from a random node on. More shards than nodes: several on a node. Fails with
 * `unavailable` without nodes.
 */
export function placeShards(
  shardNames: readonly string[],
  nodeNames: readonly string[],
  random: RandomInteger,
): readonly PhysicalShard[] {
  if (nodeNames.length === 0) throw new ShoalError("unavailable", "there is no storage node to place shards on");
  const first = random(nodeNames.length);
  return shardNames.map((name, index) => {
    const node = nodeNames[(first + index) % nodeNames.length];
    if (node === undefined)
      throw new ShoalError("internal", `random integer ${first} is not below ${nodeNames.length}`);
    return { name, members: [node] };
  });
}

function requireCount(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new ShoalError("invalid", `${name} must be an integer of at least 1, got ${value}`);
}

function newShardName(random: RandomInteger, taken: Set<string>): string {
  for (;;) {
    let name = "";
    for (let i = 0; i < NAME_CHARS; i++) name += ALPHABET.charAt(random(ALPHABET.length));
    // Compared in lower case: two folders may not differ in case only, some file systems fold it.
    const folded = name.toLowerCase();
    if (taken.has(folded)) continue;
    taken.add(folded);
    return name;
  }
}

/** A name whose bound no other virtual shard has. */
function newVirtualName(random: RandomInteger, taken: Set<string>, bounds: Set<bigint>): string {
  for (;;) {
    const name = newShardName(random, taken);
    const bound = murmur3(Buffer.from(name, "ascii"));
    if (bounds.has(bound)) continue;
    bounds.add(bound);
    return name;
  }
}
