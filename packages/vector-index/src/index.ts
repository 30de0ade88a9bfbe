export { createVectorIndex, livingBytes, loadVectorIndex, reloadedBytes } from "./graph-vector-index.js";
export { DamagedVector, orAborted } from "./native-result.js";
export {
  openSnapshotPieces,
  removeSnapshotFiles,
  type SnapshotPieces,
  SnapshotReceiver,
  type WantedSettings,
} from "./snapshot-pieces.js";
export type {
  NearestDocuments,
  VectorIndex,
  VectorIndexSettings,
  VectorIndexStatistics,
  VectorSearchOptions,
  VectorSearchSettings,
} from "./vector-index.js";
