import * as z from "zod";

const MODULE_CONFIG = z.record(z.string(), z.unknown()).optional();
/** Members of today's reference whose values ask for nothing; only there when they were given. */
const GIVEN = z.record(z.string(), z.unknown()).optional().describe("As it was given; asks for nothing.");

export const STORED_PROPERTY = z
  .strictObject({
    dataType: z.array(z.string()),
    description: z.string().optional(),
    indexFilterable: z.boolean().optional(),
    indexInverted: z.boolean().optional(),
    indexRangeFilters: z.boolean().optional(),
    indexSearchable: z.boolean().optional(),
    moduleConfig: MODULE_CONFIG,
    name: z.string(),
    tokenization: z.string().optional(),
  })
  .meta({ id: "StoredProperty" });

export const STORED_CLASS = z
  .strictObject({
    class: z.string(),
    description: z.string().optional(),
    invertedIndexConfig: z.looseObject({ cleanupIntervalSeconds: z.int() }),
    moduleConfig: MODULE_CONFIG,
    multiTenancyConfig: GIVEN,
    objectTtlConfig: GIVEN,
    properties: z
      .array(STORED_PROPERTY)
      .nullable()
      .describe("Under the wire profile `weaviate` null where the class was made without the member."),
    replicationConfig: GIVEN,
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
    vectorIndexConfig: z.looseObject({
      skip: z.boolean(),
      cleanupIntervalSeconds: z.int(),
      maxConnections: z.int(),
      efConstruction: z.int(),
      ef: z.int(),
      vectorCacheMaxObjects: z.int(),
      flatSearchCutoff: z.int(),
      targetRecall: z.number().optional(),
    }),
    vectorIndexType: z.literal("hnsw"),
    vectorizer: z.string(),
  })
  .meta({ id: "StoredClass", description: "A class with every default filled in." });

export const STORED_SCHEMA = z.strictObject({ classes: z.array(STORED_CLASS) }).meta({ id: "Schema" });
