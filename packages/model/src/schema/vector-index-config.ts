import { ConfigMembers } from "./body-members.js";
import type { VectorIndexConfig } from "./class-definition.js";

/** Both config sections are refused with this prefix: the reference's wording. */
export const CONFIG_PREFIX = "parse vector index config: ";

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

/** The `vectorIndexConfig` of a class body with defaults (reference-graphql 6). Unknown members are dropped. */
export function parseVectorIndexConfig(section: unknown, vectorCacheMaxObjectsDefault: number): VectorIndexConfig {
  const members = new ConfigMembers(section, CONFIG_PREFIX);
  const integer = (name: keyof typeof VECTOR_INDEX_LIMITS, absent: number) => {
    const [min, max] = VECTOR_INDEX_LIMITS[name];
    return members.integer(name, absent, min, max);
  };
  return {
    skip: members.boolean("skip", false),
    cleanupIntervalSeconds: integer("cleanupIntervalSeconds", 300),
    maxConnections: integer("maxConnections", 64),
    efConstruction: integer("efConstruction", 128),
    ef: integer("ef", -1),
    vectorCacheMaxObjects: integer("vectorCacheMaxObjects", vectorCacheMaxObjectsDefault),
    flatSearchCutoff: integer("flatSearchCutoff", 40_000),
  };
}
