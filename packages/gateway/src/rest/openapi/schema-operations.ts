import { CLASS_BODY, PROPERTY_BODY, type WireProfile } from "@shoal/model";
import { type DescribedBody, type Operation, operation } from "./operation.js";
import { STORED_CLASS, STORED_PROPERTY, STORED_SCHEMA } from "./schema-schemas.js";

const CLASS_EXAMPLE = {
  class: "Article",
  description: "What was written",
  vectorizer: "none",
  properties: [
    { name: "title", dataType: ["text"] },
    { name: "wordCount", dataType: ["int"] },
  ],
};

const STORED_EXAMPLE = {
  class: "Article",
  description: "What was written",
  invertedIndexConfig: { cleanupIntervalSeconds: 60 },
  properties: CLASS_EXAMPLE.properties.map(({ name, dataType }) => ({ dataType, name })),
  shardingConfig: {
    virtualPerPhysical: 128,
    desiredCount: 1,
    actualCount: 1,
    desiredVirtualCount: 128,
    actualVirtualCount: 128,
    key: "_id",
    strategy: "hash",
    function: "murmur3",
  },
  vectorIndexConfig: {
    skip: false,
    cleanupIntervalSeconds: 300,
    maxConnections: 64,
    efConstruction: 128,
    ef: -1,
    vectorCacheMaxObjects: 500_000,
    flatSearchCutoff: 40_000,
  },
  vectorIndexType: "hnsw",
  vectorizer: "none",
};

const UNKNOWN = { description: "No class has this name." };

/** The operations on the schema (specification, "Schema"; reference-rest 4). */
export function schemaOperations({ notFoundHasBody }: Pick<WireProfile, "notFoundHasBody">): readonly Operation[] {
  const notFound = { ...UNKNOWN, isEmpty: !notFoundHasBody };
  const one = "/v1/schema/{class}";
  const body: DescribedBody = {
    schema: CLASS_BODY,
    examples: {
      "vectors of your own": CLASS_EXAMPLE,
      "three shards": { class: "Note", shardingConfig: { desiredCount: 3 } },
    },
  };
  return [
    operation("GET", "/v1/schema", "schema", "getSchema", "Read all classes", {
      responses: { 200: { description: "The schema.", schema: STORED_SCHEMA, example: { classes: [STORED_EXAMPLE] } } },
    }),
    operation("POST", "/v1/schema", "schema", "createClass", "Create a class", {
      description:
        "What today's Weaviate has and this server has not (`vectorConfig`, `multiTenancyConfig.enabled: true`, …) is refused, naming " +
        "it; values that ask for nothing are taken and shown. Unknown members are ignored, with a header `Warning` for each.",
      body,
      responses: {
        200: { description: "The class with its defaults.", schema: STORED_CLASS, example: STORED_EXAMPLE },
        422: { description: "The class is not valid, asks for what is not there, or its name is taken." },
      },
    }),
    operation("GET", one, "schema", "getClass", "Read a class", {
      responses: { 200: { description: "The class.", schema: STORED_CLASS, example: STORED_EXAMPLE }, 404: notFound },
    }),
    operation("PUT", one, "schema", "updateClass", "Change a class", {
      description:
        "The whole class as it shall be. `description` and, of `vectorIndexConfig`, `ef`, `targetRecall`, `flatSearchCutoff` and " +
        "`vectorCacheMaxObjects` may change, everything else must be as it is. What is left out of `vectorIndexConfig` " +
        "falls back to its default.",
      body,
      responses: {
        200: { description: "The class as it is now.", schema: STORED_CLASS, example: STORED_EXAMPLE },
        404: notFound,
        422: { description: "Something was to change that cannot change, or is not valid." },
      },
    }),
    operation("DELETE", one, "schema", "deleteClass", "Delete a class and all of its objects", {
      responses: { 200: { description: "It is gone." }, 400: UNKNOWN },
    }),
    operation("POST", `${one}/properties`, "schema", "addProperty", "Add a property to a class", {
      body: { schema: PROPERTY_BODY, examples: { "a text": { name: "summary", dataType: ["text"] } } },
      responses: {
        200: { description: "The property.", schema: STORED_PROPERTY },
        422: { description: "The property is not valid, its name is taken, or no class has this name." },
      },
    }),
  ];
}
