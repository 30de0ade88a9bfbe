import type { Warn } from "./setting.js";
import { OFF, type UnbuiltFeature } from "./unbuilt-features.js";

type UnbuiltVariable = Omit<UnbuiltFeature, "key">;
type Advice = Pick<UnbuiltFeature, "instead" | "nothing">;

function one(variable: string, feature: string, advice: Advice = {}): UnbuiltVariable {
  return { variable, feature, ...advice };
}

function each(variables: readonly string[], feature: string, advice: Advice): readonly UnbuiltVariable[] {
  return variables.map((variable) => one(variable, feature, advice));
}

/**
 * Variables of the reference of today that do nothing here, and without which a server does something else than was asked for.
 * A start says so and goes on: unlike `UNBUILT_FEATURES` they change no response to what clients ask for by name. Those that only
 * tune the reference are left out. Whoever builds one moves its line to `settings/`.
 */
export const UNBUILT_VARIABLES: readonly UnbuiltVariable[] = [
  one("QUERY_DEFAULTS_LIMIT_GRAPHQL", "another limit than 100 of GraphQL queries that name none", {
    instead: "give `limit` in the query",
    nothing: ["100"],
  }),
  one("QUERY_HYBRID_MAXIMUM_RESULTS", "hybrid search", { nothing: ["100"] }),
  one("QUERY_CROSS_REFERENCE_DEPTH_LIMIT", "a depth of references under this name", {
    instead: "set GRAPHQL_DEPTH_MAX",
    nothing: ["5"],
  }),
  one("QUERY_SLOW_LOG_THRESHOLD", "a bound of slow queries under this name", { instead: "set SLOW_QUERY_MS" }),
  one("MAXIMUM_CONCURRENT_GET_REQUESTS", "a bound of requests under this name", {
    instead: "set REQUESTS_IN_FLIGHT_MAX",
    nothing: ["0"],
  }),
  one("DEFAULT_SHARDING_COUNT", "a number of shards for classes that name none", {
    instead: "give `shardingConfig.desiredCount` in the class",
  }),
  one("ASYNC_INDEXING", "indexing after a write is answered", { nothing: OFF }),
  ...each(["GRPC_PORT", "GRPC_MAX_MESSAGE_SIZE", "GRPC_CERT_FILE", "GRPC_KEY_FILE"], "gRPC for clients", {
    instead: "use REST and GraphQL on PORT",
  }),
  ...each(
    ["BACKUP_FILESYSTEM_PATH", "BACKUP_S3_BUCKET", "BACKUP_GCS_BUCKET", "BACKUP_AZURE_CONTAINER"],
    "backups over the API",
    { instead: "copy the data folders of processes that are stopped, see deploy/RUNBOOK.md" },
  ),
  one("OFFLOAD_S3_BUCKET", "tenants"),
  one("ENABLE_API_BASED_MODULES", "modules that call a public API", {
    instead: "send the vectors yourself, or name one of `modules` in GET /v1/meta",
    nothing: OFF,
  }),
  one("MODULES_CLIENT_TIMEOUT", "a time-out of modules", { instead: "set REQUEST_TIMEOUT_SECONDS" }),
  one("TRANSFORMERS_PASSAGE_INFERENCE_API", "a container for passages alone", {
    instead: "set TRANSFORMERS_INFERENCE_API",
  }),
  one("TRANSFORMERS_QUERY_INFERENCE_API", "a container for queries alone", {
    instead: "set TRANSFORMERS_INFERENCE_API",
  }),
  one("CLIP_INFERENCE_API", "the module multi2vec-clip"),
  one("BIND_INFERENCE_API", "the module multi2vec-bind"),
  one("MODEL2VEC_INFERENCE_API", "the module text2vec-model2vec"),
  one("RERANKER_INFERENCE_API", "the module reranker-transformers"),
  one("SUM_INFERENCE_API", "the module sum-transformers"),
  one("ENABLE_TOKENIZER_GSE", "the tokenization gse", { nothing: OFF }),
  one("ENABLE_TOKENIZER_KAGOME_JA", "the tokenization kagome_ja", { nothing: OFF }),
  one("ENABLE_TOKENIZER_KAGOME_KR", "the tokenization kagome_kr", { nothing: OFF }),
  ...each(["PROMETHEUS_MONITORING_ENABLED", "PROMETHEUS_MONITORING_PORT"], "metrics under this name", {
    instead: "set METRICS_PORT",
    nothing: OFF,
  }),
  one("LIMIT_RESOURCES", "a bound of the memory of a whole process", {
    instead: "set STORE_MEMORY_BYTES, ROW_CACHE_BYTES and INDEX_CACHE_BYTES",
    nothing: OFF,
  }),
  ...each(
    [
      "DISK_USE_READONLY_PERCENTAGE",
      "DISK_USE_WARNING_PERCENTAGE",
      "MEMORY_READONLY_PERCENTAGE",
      "MEMORY_WARNING_PERCENTAGE",
    ],
    "shards that are read-only from a share of a disk or of memory on",
    { instead: "watch METRICS_PORT", nothing: ["0"] },
  ),
  one("CORS_ALLOW_METHODS", "a choice of methods for foreign pages", {
    instead: "set CORS_ALLOW_ORIGIN",
    nothing: ["*"],
  }),
  one("CORS_ALLOW_HEADERS", "a choice of headers for foreign pages", {
    instead: "set CORS_ALLOW_ORIGIN",
    nothing: ["*"],
  }),
  one("RUNTIME_OVERRIDES_ENABLED", "settings that change at run time", { nothing: OFF }),
  one("RUNTIME_OVERRIDES_PATH", "settings that change at run time"),
  ...each(["RAFT_JOIN", "RAFT_PORT", "RAFT_INTERNAL_RPC_PORT"], "Raft between nodes", {
    instead: "start `shoal coordinator`, several of them with ETCD_ENDPOINTS",
  }),
  one("RAFT_BOOTSTRAP_EXPECT", "Raft between nodes", { instead: "set CLUSTER_EXPECTED_STORAGE_NODES", nothing: ["1"] }),
  ...each(["CLUSTER_BASIC_AUTH_USERNAME", "CLUSTER_BASIC_AUTH_PASSWORD"], "passwords between nodes", {
    instead: "set INTERNAL_TLS",
  }),
  ...each(["CLUSTER_ADVERTISE_ADDR", "CLUSTER_ADVERTISE_PORT"], "an advertised address under this name", {
    instead: "set INTERNAL_ADVERTISED_ADDRESS",
  }),
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
