export type {
  KeyRange,
  KeyValueChange,
  KeyValueEntry,
  KeyValueReader,
  KeyValueStore,
  WriteOptions,
} from "./key-value-store.js";
