import type { CopyEffect, CopyMessage, CopyState } from "./copy-messages.js";
import { NodeLeases } from "./node-leases.js";
import type { ShardConfiguration } from "./shard-configuration.js";
import { ShardCopy } from "./shard-copy.js";
import { TIMING } from "./timing.js";

export const SHARD = "s";

export function state(epoch: number, sequence: number, base = 0): CopyState {
  const end = { epoch, sequence };
  return { since: 1, acceptedEpoch: epoch, end, epochs: [{ epoch, first: 1 }], base, through: 0 };
}

export function configuration(over: Partial<ShardConfiguration>): ShardConfiguration {
  return {
    version: 1,
    epoch: 1,
    primary: "a/1",
    claim: "",
    inSync: ["a/1"],
    eligible: [],
    learners: [],
    minInSync: 1,
    ...over,
  };
}

export function copy(
  name: string,
  claim: string,
  of: CopyState,
  leases = new NodeLeases("run", 0, TIMING),
  journalKeepEntries = 8,
  isNew = true,
): ShardCopy {
  return new ShardCopy({ name, claim, shard: SHARD, state: of, isNew, leases, timing: TIMING, journalKeepEntries });
}

export function sent(effects: readonly CopyEffect[], type: CopyMessage["type"]): readonly CopyMessage[] {
  return effects.flatMap((effect) => (effect.type === "send" && effect.message.type === type ? [effect.message] : []));
}
