export { EmbeddedMetaStore } from "./embedded-meta-store.js";
export { JobRegistry, type JobRegistryOptions } from "./job-registry.js";
export { Ledger, type LedgerChange } from "./ledger.js";
export type { MetaChange, MetaState, MetaStore } from "./meta-store.js";
export { type FindNode, identityOf, NodeRegistry } from "./node-registry.js";
export { SchemaCoordinator, type SchemaCoordinatorOptions } from "./schema-coordinator.js";
export { StoredAccess } from "./stored-access.js";
export { StoredCopies } from "./stored-copies.js";
export { StoredExtensions } from "./stored-extensions.js";
