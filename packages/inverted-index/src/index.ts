export { DocumentSet } from "./document-set.js";
export type {
  IndexedChange,
  IndexedState,
  InvertedIndex,
  ObjectDirectory,
  PlannedChanges,
} from "./inverted-index.js";
