import { hostname } from "node:os";
import { ShoalError } from "@shoal/model";
import {
  hostName,
  oneOf,
  originPrefix,
  readSetting,
  type Setting,
  type SettingParser,
  type SettingSource,
  text,
  wholeNumber,
} from "./setting.js";
import { refuseUnbuiltFeatures } from "./unbuilt-features.js";

/** Longest time-out anyone may set: a day. */
const SECONDS_MAX = 86_400;
const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;

/**
 * Every setting of every process, named as the code names it. Names, defaults and meanings of the first group are those
 * of the reference (reference-rest 8.1) but for the defaults that decisions.md settles.
 */
export const SETTINGS = {
  host: setting("HOST", "127.0.0.1", "Address to listen on.", hostName),
  port: setting("PORT", 8080, "Port to listen on; 0 takes a free one.", wholeNumber(0, 65_535)),
  dataPath: setting("PERSISTENCE_DATA_PATH", "./data", "Folder that holds all data.", text),
  origin: setting("ORIGIN", "", "Prefix of links in answers, e.g. https://db.example.com.", originPrefix),
  queryDefaultsLimit: setting(
    "QUERY_DEFAULTS_LIMIT",
    25,
    "Objects on a page of GET /v1/objects when the request names no limit.",
    wholeNumber(0, 1_000_000),
  ),
  queryMaximumResults: setting(
    "QUERY_MAXIMUM_RESULTS",
    10_000,
    "Most objects a query may reach: offset plus limit.",
    wholeNumber(1, 1_000_000),
  ),
  defaultVectorizerModule: setting(
    "DEFAULT_VECTORIZER_MODULE",
    "none",
    "Vectorizer of classes that name none.",
    oneOf("none"),
  ),
  nodeName: setting("CLUSTER_HOSTNAME", hostname(), "Name of this node; the host's name by default.", hostName),
  logLevel: setting(
    "LOG_LEVEL",
    "info",
    "Least severe log line that is written.",
    oneOf("trace", "debug", "info", "warning", "warn", "error", "fatal"),
  ),
  logFormat: setting("LOG_FORMAT", "json", "One JSON object a line, or text.", oneOf("json", "text")),
  wireProfile: setting(
    "WIRE_PROFILE",
    "spec",
    "What the points look like that the specification and existing clients see differently.",
    oneOf("spec", "weaviate"),
  ),
  batchTimeoutSeconds: seconds("BATCH_TIMEOUT_SECONDS", 60, "Time a batch may take before it is answered with 504."),
  requestTimeoutSeconds: seconds("REQUEST_TIMEOUT_SECONDS", 60, "Time any other request may take."),
  requestBodyBytesMax: setting(
    "REQUEST_BODY_BYTES_MAX",
    256 * MIB,
    "Largest request body, after decompression.",
    wholeNumber(KIB, 500 * MIB),
  ),
  requestBodiesBytesMax: setting(
    "REQUEST_BODIES_BYTES_MAX",
    512 * MIB,
    "Bytes of all request bodies that are held at the same time; above it requests are refused with 429.",
    wholeNumber(KIB, 64 * GIB),
  ),
  // The contract has no such limit: bytes bound a batch. But two bytes can be an item, which takes a thousand here.
  batchObjectsMax: setting(
    "BATCH_OBJECTS_MAX",
    100_000,
    "Objects in one batch; items may be so small that REQUEST_BODY_BYTES_MAX does not bound what they take.",
    wholeNumber(1, 100_000_000),
  ),
  graphqlRowsMax: setting(
    "GRAPHQL_ROWS_MAX",
    100_000,
    "Rows all fields of one GraphQL request may reach, offset plus limit of each; QUERY_MAXIMUM_RESULTS if that is more.",
    wholeNumber(1, 100_000_000),
  ),
  answerBytesMax: setting(
    "ANSWER_BYTES_MAX",
    256 * MIB,
    "Largest GraphQL answer, and most bytes of the stored rows that one is made of.",
    wholeNumber(MIB, 2 * GIB),
  ),
  answersBytesMax: setting(
    "ANSWERS_BYTES_MAX",
    GIB,
    "Bytes of all GraphQL answers that are made at the same time, and of their rows; above it queries get 429.",
    wholeNumber(MIB, 64 * GIB),
  ),
  requestHeaderBytesMax: setting(
    "REQUEST_HEADER_BYTES_MAX",
    64 * KIB,
    "Largest request line and headers together.",
    wholeNumber(8 * KIB, MIB),
  ),
  requestsInFlightMax: setting(
    "REQUESTS_IN_FLIGHT_MAX",
    2_000,
    "Requests that are worked on at the same time; above it requests are refused with 429.",
    wholeNumber(1, 1_000_000),
  ),
  connectionsMax: setting("HTTP_CONNECTIONS_MAX", 10_000, "Open client connections.", wholeNumber(1, 1_000_000)),
  headersTimeoutSeconds: seconds("HTTP_HEADERS_TIMEOUT_SECONDS", 20, "Time a client has to send its headers."),
  bodyTimeoutSeconds: seconds("HTTP_BODY_TIMEOUT_SECONDS", 300, "Time a client has to send a whole request."),
  keepAliveSeconds: seconds(
    "HTTP_KEEP_ALIVE_SECONDS",
    75,
    "Time an idle connection stays open; longer than that of the load balancer in front.",
  ),
  drainDelaySeconds: setting(
    "DRAIN_DELAY_SECONDS",
    0,
    "Time between answering not ready and closing the port, for load balancers to notice.",
    wholeNumber(0, SECONDS_MAX),
  ),
  storeMemoryBytes: setting(
    "STORE_MEMORY_BYTES",
    48 * MIB,
    "Memory of the row stores of all shards (write buffers, block caches), divided by their number when one is opened.",
    wholeNumber(MIB, 1024 * GIB),
  ),
  rowCacheBytes: setting(
    "ROW_CACHE_BYTES",
    64 * MIB,
    "Memory of all shards together for rows that were read or written lately, without their vectors; 0 keeps none.",
    wholeNumber(0, 1024 * GIB),
  ),
  drainTimeoutSeconds: seconds("DRAIN_TIMEOUT_SECONDS", 15, "Time requests in flight have to finish at a stop."),
} as const;

type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** The value of every setting. */
export type Configuration = { readonly [Name in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[Name]> };

/**
 * Reads every setting from the first source that has it. Fails with `invalid` on the first bad value, and on values
 * that ask for something this version does not have.
 */
export function readConfiguration(...sources: readonly SettingSource[]): Configuration {
  refuseUnbuiltFeatures(sources);
  const values: Record<string, unknown> = {};
  for (const [name, one] of Object.entries(SETTINGS)) values[name] = readSetting<unknown>(one, sources);
  const configuration = values as Configuration;
  checkTogether(configuration);
  return configuration;
}

/** Rules between settings. */
function checkTogether({ queryDefaultsLimit, queryMaximumResults }: Configuration): void {
  if (queryDefaultsLimit <= queryMaximumResults) return;
  throw new ShoalError(
    "invalid",
    `QUERY_DEFAULTS_LIMIT must be at most QUERY_MAXIMUM_RESULTS (${queryMaximumResults}), got ${queryDefaultsLimit}`,
  );
}

function setting<T>(variable: string, fallback: T, meaning: string, parse: SettingParser<T>): Setting<T> {
  return { variable, fallback, meaning, parse };
}

function seconds(variable: string, fallback: number, meaning: string): Setting<number> {
  return setting(variable, fallback, `${meaning} In seconds.`, wholeNumber(1, SECONDS_MAX));
}
