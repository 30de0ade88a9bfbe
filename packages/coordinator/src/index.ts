export { EmbeddedMetaStore } from "./embedded-meta-store.js";
export type { EtcdCertificates, EtcdOptions } from "./etcd/etcd-client.js";
export { EtcdMetaStore, type EtcdMetaStoreOptions } from "./etcd/etcd-meta-store.js";
export { JobRegistry, type JobRegistryOptions } from "./job-registry.js";
export { Ledger, type LedgerChange } from "./ledger.js";
export type { MetaChange, MetaState, MetaStore } from "./meta-store.js";
export { type FindNode, identityOf, NodeRegistry } from "./node-registry.js";
export { SchemaCoordinator, type SchemaCoordinatorOptions } from "./schema-coordinator.js";
export { StoredExtensions } from "./stored-extensions.js";
