import type { JsonObject } from "../objects/json.js";

export const PRIMITIVE_DATA_TYPES = [
  "string",
  "text",
  "int",
  "number",
  "boolean",
  "date",
  "geoCoordinates",
  "phoneNumber",
  "blob",
  "string[]",
  "text[]",
  "int[]",
  "number[]",
  "boolean[]",
  "date[]",
] as const;

export type PrimitiveDataType = (typeof PRIMITIVE_DATA_TYPES)[number];

/** One property. `dataType` is one primitive type, or the names of the classes a cross-reference may point to. */
export interface PropertyDefinition {
  readonly name: string;
  readonly dataType: readonly string[];
  readonly description?: string;
  /** Present only when the client sent it; absent means true. */
  readonly indexInverted?: boolean;
  readonly moduleConfig?: JsonObject;
  /** Members that were given and ask for nothing (`unbuilt-members.ts`); only shown. */
  readonly inert?: JsonObject;
}

export interface VectorIndexConfig {
  /** True: vectors are stored but not indexed. */
  readonly skip: boolean;
  readonly cleanupIntervalSeconds: number;
  /** Neighbours of a node in the lowest layer of the graph. */
  readonly maxConnections: number;
  readonly efConstruction: number;
  /** Candidates kept during a search; -1: as many as {@link targetRecall} takes. */
  readonly ef: number;
  readonly vectorCacheMaxObjects: number;
  /** Filtered searches that allow at most so many ids may scan them instead of walking the graph. */
  readonly flatSearchCutoff: number;
  /** The share of the nearest that searches with automatic `ef` find, on average. Present only when the client sent it. */
  readonly targetRecall?: number;
}

export interface InvertedIndexConfig {
  readonly cleanupIntervalSeconds: number;
}

export interface ReplicationConfig {
  /** On so many storage nodes is each object. */
  readonly factor: number;
}

export interface ShardingConfig {
  readonly virtualPerPhysical: number;
  readonly desiredCount: number;
  readonly actualCount: number;
  readonly desiredVirtualCount: number;
  readonly actualVirtualCount: number;
  readonly key: "_id";
  readonly strategy: "hash";
  readonly function: "murmur3";
}

/**
 * A class with every default filled in, its members in the order in which they are answered
 * (reference-rest 4.1). `properties` is null when the class was created without the key; what clients see then is up to
 * the wire profile: `shownClass`.
 */
export interface ClassDefinition {
  readonly class: string;
  readonly description?: string;
  readonly invertedIndexConfig: InvertedIndexConfig;
  readonly moduleConfig?: JsonObject;
  readonly properties: readonly PropertyDefinition[] | null;
  /** Present when the client sent a factor, and when `REPLICATION_FACTOR` gave it another one than 1. */
  readonly replicationConfig?: ReplicationConfig;
  readonly shardingConfig: ShardingConfig;
  readonly vectorIndexConfig: VectorIndexConfig;
  readonly vectorIndexType: "hnsw";
  readonly vectorizer: string;
  /** Members that were given and ask for nothing (`unbuilt-members.ts`), by section; only shown. */
  readonly inert?: JsonObject;
}
