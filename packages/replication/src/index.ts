export { ClosedCopy, type ClosedCopyOptions } from "./closed-copy.js";
export type { CopyOptions } from "./copy-core.js";
export type { Change, CopyBatch, CopyEffect, CopyEvent, CopyMessage, CopyState } from "./copy-messages.js";
export { INCOMPLETE } from "./copy-messages.js";
export { type EpochTable, type JournalPosition, START } from "./journal-position.js";
export { type Heartbeat, NodeLeases, type Stamp } from "./node-leases.js";
export {
  type CopyName,
  copiesOf,
  initialConfiguration,
  minInSyncOf,
  nodeOf,
  PLACEMENT,
  proposalFault,
  type ShardConfiguration,
  STORE,
  withdrawn,
  withLearner,
  withoutLearner,
} from "./shard-configuration.js";
export { ShardCopy } from "./shard-copy.js";
export { TIMING, type Timing, timingOf } from "./timing.js";
