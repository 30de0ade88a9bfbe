export { KEY_BYTES_MAX } from "./batch-check.js";
export type {
  KeyRange,
  KeyValueChange,
  KeyValueEntry,
  KeyValueReader,
  KeyValueStore,
  WriteOptions,
} from "./key-value-store.js";
export { MemoryStore } from "./memory-store.js";
export { ENVELOPE_BYTES } from "./record-envelope.js";
