import { setImmediate } from "node:timers/promises";
import { type ObjectId, ShoalError } from "@shoal/model";
import type { FoundObjects, ShardAddress } from "@shoal/rpc";
import type { Shard } from "@shoal/shard";
import type { ShardRegistry } from "./shard-registry.js";

/** Look-ups after which other requests get their turn: a few milliseconds. */
const TURN_LOOKUPS_MAX = 50_000;

interface AskedShard {
  readonly shard: Shard;
  /** The shard's address alone: what is answered for nearly every id that is somewhere. */
  readonly answer: readonly [ShardAddress];
}

interface UnaskedShard {
  readonly shard: ShardAddress;
  readonly error: ShoalError;
}

const NOWHERE: readonly ShardAddress[] = [];

/**
 * Looks for ids in all shards of the node: one look-up in an id table each. A shard that is being opened is waited for;
 * one that cannot answer is told. Fails only when `signal` ends it.
 */
export async function findObjects(
  registry: Pick<ShardRegistry, "get" | "placed">,
  ids: readonly ObjectId[],
  signal: AbortSignal | undefined,
): Promise<FoundObjects> {
  const unasked: UnaskedShard[] = [];
  const shards = await openShards(registry, unasked);
  const idsATurn = Math.max(1, Math.floor(TURN_LOOKUPS_MAX / Math.max(1, shards.length)));
  const holders: (readonly ShardAddress[])[] = [];
  for (const [at, id] of ids.entries()) {
    if (at > 0 && at % idsATurn === 0) {
      await setImmediate();
      signal?.throwIfAborted();
    }
    let holding = NOWHERE;
    for (const asked of shards) {
      const has = asked.shard.hasObject(id);
      if (has === false || (has !== true && !(await settled(has, asked, unasked)))) continue;
      holding = holding === NOWHERE ? asked.answer : [...holding, ...asked.answer];
    }
    holders.push(holding);
  }
  return { holders, unasked };
}

async function openShards(
  registry: Pick<ShardRegistry, "get" | "placed">,
  unasked: UnaskedShard[],
): Promise<readonly AskedShard[]> {
  const shards: AskedShard[] = [];
  for (const { address, answer, ready } of registry.placed) {
    if (ready !== undefined) {
      shards.push({ shard: ready, answer });
      continue;
    }
    try {
      shards.push({ shard: await registry.get(address), answer });
    } catch (thrown) {
      unasked.push({ shard: address, error: ShoalError.from(thrown) });
    }
  }
  return shards;
}

/** The answer of a shard that has to look on its disk; false, and noted, when it cannot. */
async function settled(has: Promise<boolean>, { answer }: AskedShard, unasked: UnaskedShard[]): Promise<boolean> {
  try {
    return await has;
  } catch (thrown) {
    unasked.push({ shard: answer[0], error: ShoalError.from(thrown) });
    return false;
  }
}
