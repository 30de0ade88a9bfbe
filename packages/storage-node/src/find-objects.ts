import { type ObjectId, ShoalError } from "@shoal/model";
import type { FoundObjects, ShardAddress } from "@shoal/rpc";
import { nextStep } from "@shoal/runtime";
import type { ReadyShard, ShardRegistry } from "./shard-registry.js";

/** Look-ups after which the work yields: a few milliseconds. */
const STEP_LOOKUPS_MAX = 50_000;

interface UnaskedShard {
  readonly shard: ShardAddress;
  readonly error: ShoalError;
}

const NOWHERE: readonly ShardAddress[] = [];

/**
 * Looks for ids in all shards of the node: one look-up in an id table each, and none for most ids that are nowhere. A
 * shard that is being opened is waited for; one that cannot answer is reported. Fails only when `signal` ends it.
 */
export async function findObjects(
  registry: Pick<ShardRegistry, "get" | "placed">,
  ids: readonly ObjectId[],
  signal: AbortSignal | undefined,
): Promise<FoundObjects> {
  const unasked: UnaskedShard[] = [];
  const ready = registry.placed.ready ?? (await readyShards(registry, unasked));
  const shards = registry.placed.hasReplicas ? responding(ready, unasked) : ready;
  const idsAStep = Math.max(1, Math.floor(STEP_LOOKUPS_MAX / Math.max(1, shards.length)));
  const holders: (readonly ShardAddress[])[] = [];
  for (const [at, id] of ids.entries()) {
    if (at > 0 && at % idsAStep === 0) await nextStep({ signal });
    // Asked for again each time: a shard that is reopened during this leaves the presence filter, but not `shards`.
    if (registry.placed.presenceFilter?.mayHave(id) === false) {
      holders.push(NOWHERE);
      continue;
    }
    let holding = NOWHERE;
    for (const asked of shards) {
      const has = asked.ready.hasObject(id);
      if (has === false || (has !== true && !(await settled(has, asked, unasked)))) continue;
      holding = holding === NOWHERE ? asked.response : [...holding, ...asked.response];
    }
    holders.push(holding);
  }
  // What was asked a while ago may be primary no more.
  if (shards !== ready) responding(shards, unasked);
  return { holders, unasked };
}

/** Those that may answer by themselves: of a shard with copies only the primary knows what was acknowledged. */
function responding(shards: readonly ReadyShard[], unasked: UnaskedShard[]): readonly ReadyShard[] {
  return shards.filter(({ address, replica }) => {
    const error = replica?.linearRefusal();
    if (error !== undefined) unasked.push({ shard: address, error });
    return error === undefined;
  });
}

async function readyShards(
  registry: Pick<ShardRegistry, "get" | "placed">,
  unasked: UnaskedShard[],
): Promise<readonly ReadyShard[]> {
  const shards: ReadyShard[] = [];
  for (const placed of registry.placed.all) {
    const { address } = placed;
    try {
      const ready = placed.ready ?? (await registry.get(address));
      const { response } = placed;
      shards.push({ address, response, ready, replica: placed.replica });
    } catch (thrown) {
      unasked.push({ shard: address, error: ShoalError.from(thrown) });
    }
  }
  return shards;
}

/** The response of a shard that has to look on its disk; false, and noted, when it cannot. */
async function settled(has: Promise<boolean>, { address }: ReadyShard, unasked: UnaskedShard[]): Promise<boolean> {
  try {
    return await has;
  } catch (thrown) {
    unasked.push({ shard: address, error: ShoalError.from(thrown) });
    return false;
  }
}
