export { DocumentSet } from "./document-set.js";
export type {
  IndexedChange,
  IndexedState,
  InvertedIndex,
  InvertedIndexSite,
  ObjectDirectory,
  PlannedChanges,
} from "./inverted-index.js";
