export type { AccessChange, AccessPosition, AccessService, AccessSnapshot } from "./access-service.js";
export type {
  CopiesSnapshot,
  CopyDecision,
  CopyProposal,
  CopyService,
  KnownConfiguration,
  NodeMessage,
  ShardKey,
} from "./copy-service.js";
export { type Delivery, deliveryOf, messageInFull, undelivered } from "./delivery.js";
export type { ExtensionService, ExtensionsSnapshot } from "./extension-service.js";
export { initialConfigurations } from "./initial-configurations.js";
export type {
  ClaimKey,
  Job,
  JobClaim,
  JobCounts,
  JobService,
  JobsNotice,
  NewJob,
  RangeProgress,
  RangeReport,
} from "./job-service.js";
export type { ConnectionState, NodeCarrier, NodeConnection } from "./node-connection.js";
export {
  isComplete,
  type NodeClaim,
  type NodeDirectory,
  type NodePresence,
  type NodeRecord,
  type NodeService,
  storageNodeCount,
} from "./node-service.js";
export type { PeerConnection, PeerReceiver } from "./peer-connection.js";
export {
  type ChangeContext,
  type ClassDrop,
  type ClassIncarnation,
  type ClassPlan,
  type ClassRecord,
  type EnsuredClass,
  type EnsuredProperties,
  type FormerHistory,
  goesOnFrom,
  type SchemaPosition,
  type SchemaService,
  type SchemaSnapshot,
  type ServedSchema,
} from "./schema-service.js";
export { type AnyShardMethod, callService, shardOf, shardServiceBy } from "./shard-methods.js";
export { ShardMoved } from "./shard-moved.js";
export { shardKeyOf, shardPlaceOf } from "./shard-names.js";
export type {
  CopyReport,
  FoundObjects,
  ShardAddress,
  ShardRecall,
  ShardService,
  ShardSize,
  ShardStatus,
} from "./shard-service.js";
export type { EntriesSnapshot, SnapshotService } from "./snapshot-service.js";
export { peerNames } from "./tls/peer-names.js";
export type { TlsMaterial, TlsSource } from "./tls/tls-source.js";
export { WatchedValue } from "./watched-value.js";
