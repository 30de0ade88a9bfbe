import type { Warn } from "./read-authentication.js";
import { OFF, type UnbuiltFeature } from "./unbuilt-features.js";

const NO_CLIENT_GRPC = { feature: "gRPC for clients", instead: "use REST and GraphQL on PORT" };
const NO_BACKUPS = {
  feature: "backups over the API",
  instead: "copy the data folders of processes that are stopped, see deploy/RUNBOOK.md",
};
const NO_RAFT = {
  feature: "Raft between nodes",
  instead: "start `shoal coordinator`, several of them with ETCD_ENDPOINTS",
};
const NO_BASIC_AUTH = { feature: "passwords between nodes", instead: "set INTERNAL_TLS" };
const NO_WATERMARKS = {
  feature: "shards that are read-only from a share of a disk or of memory on",
  instead: "watch METRICS_PORT",
  nothing: ["0"],
};
const METRICS = { feature: "metrics under this name", instead: "set METRICS_PORT", nothing: OFF };
const ADVERTISED = { feature: "an advertised address under this name", instead: "set INTERNAL_ADVERTISED_ADDRESS" };

function module(name: string): Pick<UnbuiltFeature, "feature"> {
  return { feature: `the module ${name}` };
}

/**
 * Variables of the reference of today that do nothing here, and without which a server does something else than was asked for.
 * A start says so and goes on: unlike `UNBUILT_FEATURES` they change no answer to what clients ask for by name. Those that only
 * tune the reference are left out. Whoever builds one moves its line to `settings/`.
 */
export const UNBUILT_VARIABLES: readonly Omit<UnbuiltFeature, "key">[] = [
  {
    variable: "QUERY_DEFAULTS_LIMIT_GRAPHQL",
    feature: "another limit than 100 of GraphQL queries that name none",
    instead: "give `limit` in the query",
    nothing: ["100"],
  },
  { variable: "QUERY_HYBRID_MAXIMUM_RESULTS", feature: "hybrid search", nothing: ["100"] },
  {
    variable: "QUERY_CROSS_REFERENCE_DEPTH_LIMIT",
    feature: "a depth of references under this name",
    instead: "set GRAPHQL_DEPTH_MAX",
    nothing: ["5"],
  },
  {
    variable: "QUERY_SLOW_LOG_THRESHOLD",
    feature: "a bound of slow queries under this name",
    instead: "set SLOW_QUERY_MS",
  },
  {
    variable: "MAXIMUM_CONCURRENT_GET_REQUESTS",
    feature: "a bound of requests under this name",
    instead: "set REQUESTS_IN_FLIGHT_MAX",
    nothing: ["0"],
  },
  {
    variable: "DEFAULT_SHARDING_COUNT",
    feature: "a number of shards for classes that name none",
    instead: "give `shardingConfig.desiredCount` in the class",
  },
  { variable: "ASYNC_INDEXING", feature: "indexing after a write is answered", nothing: OFF },
  { variable: "GRPC_PORT", ...NO_CLIENT_GRPC },
  { variable: "GRPC_MAX_MESSAGE_SIZE", ...NO_CLIENT_GRPC },
  { variable: "GRPC_CERT_FILE", ...NO_CLIENT_GRPC },
  { variable: "GRPC_KEY_FILE", ...NO_CLIENT_GRPC },
  { variable: "BACKUP_FILESYSTEM_PATH", ...NO_BACKUPS },
  { variable: "BACKUP_S3_BUCKET", ...NO_BACKUPS },
  { variable: "BACKUP_GCS_BUCKET", ...NO_BACKUPS },
  { variable: "BACKUP_AZURE_CONTAINER", ...NO_BACKUPS },
  { variable: "OFFLOAD_S3_BUCKET", feature: "tenants" },
  {
    variable: "ENABLE_API_BASED_MODULES",
    feature: "modules that call a public API",
    instead: "send the vectors yourself, or name one of `modules` in GET /v1/meta",
    nothing: OFF,
  },
  { variable: "MODULES_CLIENT_TIMEOUT", feature: "a time-out of modules", instead: "set REQUEST_TIMEOUT_SECONDS" },
  {
    variable: "TRANSFORMERS_PASSAGE_INFERENCE_API",
    feature: "a container for passages alone",
    instead: "set TRANSFORMERS_INFERENCE_API",
  },
  {
    variable: "TRANSFORMERS_QUERY_INFERENCE_API",
    feature: "a container for queries alone",
    instead: "set TRANSFORMERS_INFERENCE_API",
  },
  { variable: "CLIP_INFERENCE_API", ...module("multi2vec-clip") },
  { variable: "BIND_INFERENCE_API", ...module("multi2vec-bind") },
  { variable: "MODEL2VEC_INFERENCE_API", ...module("text2vec-model2vec") },
  { variable: "RERANKER_INFERENCE_API", ...module("reranker-transformers") },
  { variable: "SUM_INFERENCE_API", ...module("sum-transformers") },
  { variable: "ENABLE_TOKENIZER_GSE", feature: "the tokenization gse", nothing: OFF },
  { variable: "ENABLE_TOKENIZER_KAGOME_JA", feature: "the tokenization kagome_ja", nothing: OFF },
  { variable: "ENABLE_TOKENIZER_KAGOME_KR", feature: "the tokenization kagome_kr", nothing: OFF },
  { variable: "PROMETHEUS_MONITORING_ENABLED", ...METRICS },
  { variable: "PROMETHEUS_MONITORING_PORT", ...METRICS },
  {
    variable: "LIMIT_RESOURCES",
    feature: "a bound of the memory of a whole process",
    instead: "set STORE_MEMORY_BYTES, ROW_CACHE_BYTES and INDEX_CACHE_BYTES",
    nothing: OFF,
  },
  { variable: "DISK_USE_READONLY_PERCENTAGE", ...NO_WATERMARKS },
  { variable: "DISK_USE_WARNING_PERCENTAGE", ...NO_WATERMARKS },
  { variable: "MEMORY_READONLY_PERCENTAGE", ...NO_WATERMARKS },
  { variable: "MEMORY_WARNING_PERCENTAGE", ...NO_WATERMARKS },
  {
    variable: "CORS_ALLOW_METHODS",
    feature: "a choice of methods for foreign pages",
    instead: "set CORS_ALLOW_ORIGIN",
    nothing: ["*"],
  },
  {
    variable: "CORS_ALLOW_HEADERS",
    feature: "a choice of headers for foreign pages",
    instead: "set CORS_ALLOW_ORIGIN",
    nothing: ["*"],
  },
  { variable: "RUNTIME_OVERRIDES_ENABLED", feature: "settings that change at run time", nothing: OFF },
  { variable: "RUNTIME_OVERRIDES_PATH", feature: "settings that change at run time" },
  { variable: "RAFT_JOIN", ...NO_RAFT },
  { variable: "RAFT_PORT", ...NO_RAFT },
  { variable: "RAFT_INTERNAL_RPC_PORT", ...NO_RAFT },
  {
    variable: "RAFT_BOOTSTRAP_EXPECT",
    feature: "Raft between nodes",
    instead: "set CLUSTER_EXPECTED_STORAGE_NODES",
    nothing: ["1"],
  },
  { variable: "CLUSTER_BASIC_AUTH_USERNAME", ...NO_BASIC_AUTH },
  { variable: "CLUSTER_BASIC_AUTH_PASSWORD", ...NO_BASIC_AUTH },
  { variable: "CLUSTER_ADVERTISE_ADDR", ...ADVERTISED },
  { variable: "CLUSTER_ADVERTISE_PORT", ...ADVERTISED },
];

/** What Kubernetes and linked containers set for a service, one that is called `grpc`, say. */
const SERVICE_ADDRESS = /^(tcp|udp):\/\//;

/** Tells of each variable of the reference that asks for what is not built here. Empty ones count as not set. */
export function warnOfUnbuiltVariables(environment: Readonly<Record<string, string | undefined>>, warn: Warn): void {
  for (const { variable, feature, instead, nothing = [] } of UNBUILT_VARIABLES) {
    const value = environment[variable]?.trim().toLowerCase() ?? "";
    if (value === "" || nothing.includes(value) || SERVICE_ADDRESS.test(value)) continue;
    // Never the value: some are secrets.
    const advice = instead === undefined ? "" : `: ${instead}`;
    warn(`${variable} has no effect, what it asks for is not built here (${feature})${advice}`);
  }
}
