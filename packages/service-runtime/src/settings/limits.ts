import { setting } from "../setting.js";
import { wholeNumber } from "../setting-parsers.js";

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
/** An empty server of one process uses about 70 MiB. */
const MEMORY_BUDGET_BYTES_MIN = 128 * MIB;

/** What requests and responses may take. */
export const LIMIT_SETTINGS = {
  requestBodyBytesMax: setting("REQUEST_BODY_BYTES_MAX", "request.body_bytes_max", wholeNumber(KIB, 500 * MIB), {
    fallback: 64 * MIB,
    fallbackPart: 1 / 8,
    meaning: "Largest request body, after decompression.",
  }),
  requestBodiesBytesMax: setting("REQUEST_BODIES_BYTES_MAX", "request.bodies_bytes_max", wholeNumber(KIB, 64 * GIB), {
    fallback: 512 * MIB,
    fallbackPart: 1 / 8,
    meaning:
      "Bytes of all request bodies that are held at the same time. When they are used up, the user (or address) that holds most loses its slowest body, with 429.",
  }),
  // An object is read and merged in one go, while nothing else happens. REST reads no more than 16 MiB of one.
  objectBytesMax: setting("OBJECT_BYTES_MAX", "object.bytes_max", wholeNumber(KIB, 16 * MIB), {
    fallback: 8 * MIB,
    meaning: "Largest stored object, its vector included. Larger stored ones can be read and made smaller.",
  }),
  // The contract has no such limit: bytes bound a batch. But two bytes can be an item, which takes a thousand here.
  batchObjectsMax: setting("BATCH_OBJECTS_MAX", "batch.objects_max", wholeNumber(1, 100_000_000), {
    fallback: 100_000,
    meaning: "Objects in one batch; items may be so small that REQUEST_BODY_BYTES_MAX does not bound their cost.",
  }),
  batchReferencesMax: setting("BATCH_REFERENCES_MAX", "batch.references_max", wholeNumber(1, 100_000_000), {
    fallback: 100_000,
    meaning: "References in one batch, and in the list of one PUT or DELETE of references.",
  }),
  graphqlRowsMax: setting("GRAPHQL_ROWS_MAX", "graphql.rows_max", wholeNumber(1, 100_000_000), {
    fallback: 100_000,
    meaning:
      "Rows all fields of one GraphQL request may reach, offset plus limit of each; QUERY_MAXIMUM_RESULTS if that is more.",
  }),
  graphqlCostMax: setting("GRAPHQL_COST_MAX", "graphql.cost_max", wholeNumber(1, 1_000_000_000), {
    fallback: 1_000_000,
    meaning:
      "Rows of one GraphQL request, each once more for every class of references below it, on all levels and under all aliases.",
  }),
  graphqlClassFieldsMax: setting("GRAPHQL_CLASS_FIELDS_MAX", "graphql.class_fields_max", wholeNumber(1, 100_000), {
    fallback: 200,
    meaning: "Fields of Get and Aggregate, and Explores, of one GraphQL request: each is a separate query.",
  }),
  graphqlBatchRequestsMax: setting(
    "GRAPHQL_BATCH_REQUESTS_MAX",
    "graphql.batch_requests_max",
    wholeNumber(1, 100_000),
    {
      fallback: 200,
      meaning: "Requests in one batch of GraphQL requests.",
    },
  ),
  graphqlDepthMax: setting("GRAPHQL_DEPTH_MAX", "graphql.depth_max", wholeNumber(10, 400), {
    fallback: 100,
    meaning: "Levels of a GraphQL text, and of its fields once fragments are expanded.",
  }),
  filterClausesMax: setting("FILTER_CLAUSES_MAX", "query.filter_clauses_max", wholeNumber(1, 100_000), {
    fallback: 1_000,
    meaning: "Clauses of a where-filter.",
  }),
  filterValuesMax: setting("FILTER_VALUES_MAX", "query.filter_values_max", wholeNumber(1, 1_000_000), {
    fallback: 10_000,
    meaning: "Values that a where-filter compares with, those of all its lists together.",
  }),
  filterIdsMax: setting("FILTER_IDS_MAX", "query.filter_ids_max", wholeNumber(1, 100_000_000), {
    fallback: 1_000_000,
    meaning:
      "Objects of one class that a filter over a reference may match; a filter that matches more is refused, never cut.",
  }),
  referencedRowsMax: setting("REFERENCED_ROWS_MAX", "query.referenced_rows_max", wholeNumber(1, 100_000_000), {
    fallback: 100_000,
    meaning: "References one class field of a GraphQL request may follow, on all levels together.",
  }),
  aggregateBytesMax: setting("AGGREGATE_BYTES_MAX", "query.aggregate_bytes_max", wholeNumber(KIB, 64 * GIB), {
    fallback: 64 * MIB,
    fallbackPart: 1 / 16,
    meaning: "Memory of the groups and distinct values that one aggregation may hold; one that needs more is refused.",
  }),
  answerBytesMax: setting("ANSWER_BYTES_MAX", "answer.bytes_max", wholeNumber(MIB, 2 * GIB), {
    fallback: 256 * MIB,
    fallbackPart: 1 / 8,
    meaning: "Largest response to a list or a GraphQL query, and most bytes of the stored rows that one is made from.",
  }),
  answersBytesMax: setting("ANSWERS_BYTES_MAX", "answer.all_bytes_max", wholeNumber(MIB, 64 * GIB), {
    fallback: GIB,
    fallbackPart: 1 / 8,
    meaning:
      "Bytes of all responses in progress, with their rows, and of those that clients have not read yet; above it requests get 429.",
  }),
  requestHeaderBytesMax: setting("REQUEST_HEADER_BYTES_MAX", "request.header_bytes_max", wholeNumber(8 * KIB, MIB), {
    fallback: 64 * KIB,
    meaning: "Largest request line and headers together.",
  }),
  requestsInFlightMax: setting("REQUESTS_IN_FLIGHT_MAX", "request.in_flight_max", wholeNumber(1, 1_000_000), {
    fallback: 2_000,
    meaning: "Requests that are worked on at the same time; above it requests are refused with 429.",
  }),
  connectionsMax: setting("HTTP_CONNECTIONS_MAX", "http.connections_max", wholeNumber(1, 1_000_000), {
    fallback: 10_000,
    meaning:
      "Open client connections. Above seven eighths of them idle ones are closed, first those of the address with the most.",
  }),
} as const;

/** All memory, and what of it stays in use between requests. */
export const MEMORY_SETTINGS = {
  memoryBudgetBytes: setting(
    "MEMORY_BUDGET_BYTES",
    "memory.budget_bytes",
    wholeNumber(MEMORY_BUDGET_BYTES_MIN, 1024 * 1024 * GIB),
    {
      fallbackText: "80 % of what the process's control group or else the machine has",
      meaning:
        "Memory that the process may use, files in the page cache aside. From 90 % on nothing is stored that makes it grow (429), from 97 % on shards are read-only except for deletions; both end by themselves. A write to a shard with copies is refused for the memory of any node that has one in sync; a copy that is not in sync takes no objects with which 97 % would be used.",
    },
  ),
  storeMemoryBytes: setting("STORE_MEMORY_BYTES", "store.memory_bytes", wholeNumber(MIB, 1024 * GIB), {
    fallback: 48 * MIB,
    fallbackPart: 1 / 16,
    meaning:
      "Memory of the row stores of all shards (write buffers, block caches), divided by their number when one is opened. The write buffers of many shards may take sixteen times as much, if all are written to.",
  }),
  rowCacheBytes: setting("ROW_CACHE_BYTES", "row_cache.bytes", wholeNumber(0, 1024 * GIB), {
    fallback: 64 * MIB,
    fallbackPart: 1 / 16,
    meaning:
      "Memory of all shards together for rows that were read or written lately, without their vectors; 0 keeps none.",
  }),
  indexCacheBytes: setting("INDEX_CACHE_BYTES", "index_cache.bytes", wholeNumber(0, 1024 * GIB), {
    fallback: 96 * MIB,
    fallbackPart: 1 / 16,
    meaning:
      "Memory of all shards together for what filters and aggregations read of their inverted indexes; the least recently used is evicted first.",
  }),
} as const;
