export { EmbeddedMetaStore } from "./embedded-meta-store.js";
export type { MetaChange, MetaState, MetaStore } from "./meta-store.js";
export { SchemaCoordinator, type SchemaCoordinatorOptions } from "./schema-coordinator.js";
