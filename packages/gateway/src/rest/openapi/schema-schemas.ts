import * as z from "zod";

const MODULE_CONFIG = z.record(z.string(), z.unknown()).optional();

export const STORED_PROPERTY = z
  .strictObject({
    dataType: z.array(z.string()),
    description: z.string().optional(),
    indexInverted: z.boolean().optional(),
    moduleConfig: MODULE_CONFIG,
    name: z.string(),
  })
  .meta({ id: "StoredProperty" });

export const STORED_CLASS = z
  .strictObject({
    class: z.string(),
    description: z.string().optional(),
    invertedIndexConfig: z.strictObject({ cleanupIntervalSeconds: z.int() }),
    moduleConfig: MODULE_CONFIG,
    properties: z
      .array(STORED_PROPERTY)
      .nullable()
      .describe("Under the wire profile `weaviate` null where the class was made without the member."),
    shardingConfig: z.strictObject({
      virtualPerPhysical: z.int(),
      desiredCount: z.int(),
      actualCount: z.int(),
      desiredVirtualCount: z.int(),
      actualVirtualCount: z.int(),
      key: z.literal("_id"),
      strategy: z.literal("hash"),
      function: z.literal("murmur3"),
    }),
    vectorIndexConfig: z.strictObject({
      skip: z.boolean(),
      cleanupIntervalSeconds: z.int(),
      maxConnections: z.int(),
      efConstruction: z.int(),
      ef: z.int(),
      vectorCacheMaxObjects: z.int(),
      flatSearchCutoff: z.int(),
    }),
    vectorIndexType: z.literal("hnsw"),
    vectorizer: z.string(),
  })
  .meta({ id: "StoredClass", description: "A class with every default filled in." });

export const STORED_SCHEMA = z.strictObject({ classes: z.array(STORED_CLASS) }).meta({ id: "Schema" });
