export { DiskBallast } from "./disk-ballast.js";
export { diskOf } from "./disk-of.js";
export { makeDurableFolder, syncFolder, writeDurableFile } from "./durable-files.js";
export { endAfterStoreFailure } from "./end-after-store-failure.js";
export type {
  KeyRange,
  KeyValueChange,
  KeyValueEntry,
  KeyValueReader,
  KeyValueStore,
  WriteOptions,
} from "./key-value-store.js";
export { openRocksStore } from "./open-rocks-store.js";
export { DamagedKeys } from "./repair/damaged-keys.js";
export type { FileDamage, FoundVersion } from "./repair/found-version.js";
export { holdStore } from "./repair/held-store.js";
export { type KeyHistory, type KeyNote, NewestVersions } from "./repair/newest-versions.js";
export { type RepairWorkshop, repairStore, type StoreRepaired } from "./repair/repair-store.js";
export { isReplaced } from "./replace-store.js";
export type { RocksStore } from "./rocks-store.js";
export { isStoreFolder } from "./store-files-check.js";
export { storeMemory } from "./store-memory.js";
export { snapshotWriters } from "./thread-lanes.js";
export type { StoreState } from "./write-gate.js";
