import * as z from "zod";
import type { VectorIndexConfig } from "./class-definition.js";
import { configBoolean, configInteger, configNumber, readConfigSection } from "./config-section.js";

const YEAR_SECONDS = 31_536_000;

/**
 * Allowed ranges: what lies outside cannot be built or would eat the node's memory. The vector index takes all that lies
 * inside: fewer than 4 connections act as 4, an `ef` below the number of wanted results (0, too) acts as that number.
 */
export const VECTOR_INDEX_LIMITS = {
  cleanupIntervalSeconds: [0, YEAR_SECONDS],
  maxConnections: [1, 1_024],
  efConstruction: [1, 4_096],
  ef: [-1, 65_536],
  vectorCacheMaxObjects: [0, Number.MAX_SAFE_INTEGER],
  flatSearchCutoff: [0, Number.MAX_SAFE_INTEGER],
} as const;

function limited(name: keyof typeof VECTOR_INDEX_LIMITS) {
  const [min, max] = VECTOR_INDEX_LIMITS[name];
  return configInteger(min, max);
}

function integer(name: keyof typeof VECTOR_INDEX_LIMITS, absent: number) {
  return limited(name).default(absent).meta({ default: absent });
}

/** Where a class does not say what share of the nearest its searches are to find. */
export const TARGET_RECALL_DEFAULT = 0.98;
const TARGET_RECALL_MIN = 0.5;

/** The `vectorIndexConfig` of a class body (reference-graphql 6), and `targetRecall`, which is our own. */
export const VECTOR_INDEX_CONFIG = z.object({
  skip: configBoolean().default(false).describe("True: vectors are stored but not indexed."),
  cleanupIntervalSeconds: integer("cleanupIntervalSeconds", 300),
  maxConnections: integer("maxConnections", 64).describe("Neighbours of a node in the lowest layer of the graph."),
  efConstruction: integer("efConstruction", 128).describe("Candidates that are kept while a node is linked."),
  ef: integer("ef", -1).describe("Candidates that are kept during a search; -1: as many as `targetRecall` takes."),
  vectorCacheMaxObjects: limited("vectorCacheMaxObjects").optional(),
  flatSearchCutoff: integer("flatSearchCutoff", 40_000).describe(
    "Filtered searches that allow at most so many objects may scan them instead of walking the graph.",
  ),
  targetRecall: configNumber(TARGET_RECALL_MIN, 1)
    .optional()
    .describe(
      "The share of the nearest that searches find on average while `ef` is -1, as the index measures it of itself; 0.98 when " +
        "it is not given. With 1 no graph is used: every search looks at all vectors.",
    ),
});

/** The `vectorIndexConfig` of a class body with defaults. Unknown members are dropped. */
export function parseVectorIndexConfig(section: unknown, vectorCacheMaxObjectsDefault: number): VectorIndexConfig {
  const { vectorCacheMaxObjects, flatSearchCutoff, targetRecall, ...config } = readConfigSection(
    VECTOR_INDEX_CONFIG,
    section,
    "vectorIndexConfig",
  );
  return {
    ...config,
    vectorCacheMaxObjects: vectorCacheMaxObjects ?? vectorCacheMaxObjectsDefault,
    flatSearchCutoff,
    ...(targetRecall === undefined ? {} : { targetRecall }),
  };
}
