export { createInvertedIndex, type InvertedIndexOptions } from "./create-inverted-index.js";
export { DocumentSet } from "./document-set.js";
export { type IndexKeyPrefixes, indexRanges } from "./index-keys.js";
export { IndexMemory } from "./index-memory.js";
export type {
  DocumentTest,
  IndexedChange,
  IndexedState,
  InvertedIndex,
  ObjectDirectory,
  PlannedChanges,
} from "./inverted-index.js";
export { LongReads } from "./long-reads.js";
