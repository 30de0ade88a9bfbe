export type {
  NearestDocuments,
  VectorIndex,
  VectorIndexSettings,
  VectorIndexStatistics,
  VectorSearchOptions,
  VectorSearchSettings,
} from "./vector-index.js";
