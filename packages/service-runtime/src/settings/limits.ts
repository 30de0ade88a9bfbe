import { setting, withinBudget } from "../setting.js";
import { wholeNumber } from "../setting-parsers.js";

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
/** An empty server of one process uses about 70 MiB. */
const MEMORY_BUDGET_BYTES_MIN = 128 * MIB;

/** What requests and answers may take. */
export const LIMIT_SETTINGS = {
  requestBodyBytesMax: withinBudget(
    setting(
      "REQUEST_BODY_BYTES_MAX",
      "request.body_bytes_max",
      64 * MIB,
      "Largest request body, after decompression.",
      wholeNumber(KIB, 500 * MIB),
    ),
    1 / 8,
  ),
  requestBodiesBytesMax: withinBudget(
    setting(
      "REQUEST_BODIES_BYTES_MAX",
      "request.bodies_bytes_max",
      512 * MIB,
      "Bytes of all request bodies that are held at the same time. When they are full, the user (or address) that holds most loses the body that comes slowest, with 429.",
      wholeNumber(KIB, 64 * GIB),
    ),
    1 / 8,
  ),
  // An object is read and merged in one go, while nothing else happens. REST reads no more than 16 MiB of one.
  objectBytesMax: setting(
    "OBJECT_BYTES_MAX",
    "object.bytes_max",
    8 * MIB,
    "Largest stored object, its vector included. Larger ones that are stored already can be read and made smaller.",
    wholeNumber(KIB, 16 * MIB),
  ),
  // The contract has no such limit: bytes bound a batch. But two bytes can be an item, which takes a thousand here.
  batchObjectsMax: setting(
    "BATCH_OBJECTS_MAX",
    "batch.objects_max",
    100_000,
    "Objects in one batch; items may be so small that REQUEST_BODY_BYTES_MAX does not bound what they take.",
    wholeNumber(1, 100_000_000),
  ),
  batchReferencesMax: setting(
    "BATCH_REFERENCES_MAX",
    "batch.references_max",
    100_000,
    "References in one batch, and in the list of one PUT or DELETE of references.",
    wholeNumber(1, 100_000_000),
  ),
  graphqlRowsMax: setting(
    "GRAPHQL_ROWS_MAX",
    "graphql.rows_max",
    100_000,
    "Rows all fields of one GraphQL request may reach, offset plus limit of each; QUERY_MAXIMUM_RESULTS if that is more.",
    wholeNumber(1, 100_000_000),
  ),
  graphqlCostMax: setting(
    "GRAPHQL_COST_MAX",
    "graphql.cost_max",
    1_000_000,
    "Rows of one GraphQL request, each once more for every class of references below it, on all levels and under all aliases.",
    wholeNumber(1, 1_000_000_000),
  ),
  graphqlClassFieldsMax: setting(
    "GRAPHQL_CLASS_FIELDS_MAX",
    "graphql.class_fields_max",
    200,
    "Fields of Get and Aggregate, and Explores, of one GraphQL request: each is a query of its own.",
    wholeNumber(1, 100_000),
  ),
  graphqlBatchRequestsMax: setting(
    "GRAPHQL_BATCH_REQUESTS_MAX",
    "graphql.batch_requests_max",
    200,
    "Requests in one batch of GraphQL requests.",
    wholeNumber(1, 100_000),
  ),
  graphqlDepthMax: setting(
    "GRAPHQL_DEPTH_MAX",
    "graphql.depth_max",
    100,
    "Levels of a GraphQL text, and of its fields once fragments are put in their places.",
    wholeNumber(10, 400),
  ),
  filterClausesMax: setting(
    "FILTER_CLAUSES_MAX",
    "query.filter_clauses_max",
    1_000,
    "Clauses of a where-filter.",
    wholeNumber(1, 100_000),
  ),
  filterValuesMax: setting(
    "FILTER_VALUES_MAX",
    "query.filter_values_max",
    10_000,
    "Values that a where-filter compares with, those of all its lists together.",
    wholeNumber(1, 1_000_000),
  ),
  filterIdsMax: setting(
    "FILTER_IDS_MAX",
    "query.filter_ids_max",
    1_000_000,
    "Objects of one class that a filter over a reference may match; a filter that matches more is refused, never cut.",
    wholeNumber(1, 100_000_000),
  ),
  referencedRowsMax: setting(
    "REFERENCED_ROWS_MAX",
    "query.referenced_rows_max",
    100_000,
    "References one class field of a GraphQL request may follow, on all levels together.",
    wholeNumber(1, 100_000_000),
  ),
  aggregateBytesMax: withinBudget(
    setting(
      "AGGREGATE_BYTES_MAX",
      "query.aggregate_bytes_max",
      64 * MIB,
      "Memory of the groups and distinct values that one aggregation may hold; one that needs more is refused.",
      wholeNumber(KIB, 64 * GIB),
    ),
    1 / 16,
  ),
  answerBytesMax: withinBudget(
    setting(
      "ANSWER_BYTES_MAX",
      "answer.bytes_max",
      256 * MIB,
      "Largest answer of a list or a GraphQL query, and most bytes of the stored rows that one is made of.",
      wholeNumber(MIB, 2 * GIB),
    ),
    1 / 8,
  ),
  answersBytesMax: withinBudget(
    setting(
      "ANSWERS_BYTES_MAX",
      "answer.all_bytes_max",
      GIB,
      "Bytes of all answers that are made at the same time, with their rows, and of those that clients have not taken yet; above it requests get 429.",
      wholeNumber(MIB, 64 * GIB),
    ),
    1 / 8,
  ),
  requestHeaderBytesMax: setting(
    "REQUEST_HEADER_BYTES_MAX",
    "request.header_bytes_max",
    64 * KIB,
    "Largest request line and headers together.",
    wholeNumber(8 * KIB, MIB),
  ),
  requestsInFlightMax: setting(
    "REQUESTS_IN_FLIGHT_MAX",
    "request.in_flight_max",
    2_000,
    "Requests that are worked on at the same time; above it requests are refused with 429.",
    wholeNumber(1, 1_000_000),
  ),
  connectionsMax: setting(
    "HTTP_CONNECTIONS_MAX",
    "http.connections_max",
    10_000,
    "Open client connections. Above seven eighths of them idle ones are closed, of the address that has most first.",
    wholeNumber(1, 1_000_000),
  ),
} as const;

/** All memory, and what of it stays in use between requests. */
export const MEMORY_SETTINGS = {
  memoryBudgetBytes: {
    ...setting<number | undefined>(
      "MEMORY_BUDGET_BYTES",
      "memory.budget_bytes",
      undefined,
      "Memory that the process may use, files in the page cache aside. From 90 % on nothing is stored that makes it grow (429), from 97 % on shards are read-only but for deletions; both end by themselves.",
      wholeNumber(MEMORY_BUDGET_BYTES_MIN, 1024 * 1024 * GIB),
    ),
    fallbackText: "80 % of what the process's control group or else the machine has",
  },
  storeMemoryBytes: withinBudget(
    setting(
      "STORE_MEMORY_BYTES",
      "store.memory_bytes",
      48 * MIB,
      "Memory of the row stores of all shards (write buffers, block caches), divided by their number when one is opened. The write buffers of many shards may take sixteen times as much, if all are written to.",
      wholeNumber(MIB, 1024 * GIB),
    ),
    1 / 16,
  ),
  rowCacheBytes: withinBudget(
    setting(
      "ROW_CACHE_BYTES",
      "row_cache.bytes",
      64 * MIB,
      "Memory of all shards together for rows that were read or written lately, without their vectors; 0 keeps none.",
      wholeNumber(0, 1024 * GIB),
    ),
    1 / 16,
  ),
  indexCacheBytes: withinBudget(
    setting(
      "INDEX_CACHE_BYTES",
      "index_cache.bytes",
      96 * MIB,
      "Memory of all shards together for what filters and aggregations read of their inverted indexes; what was used longest ago goes first.",
      wholeNumber(0, 1024 * GIB),
    ),
    1 / 16,
  ),
} as const;
