const WORDS = ["model", "native", "sharding", "runtime", "replication"];
const CONTRACTS = ["rpc", "module-api", "service-runtime"];
/** What has a disk. */
export const DISK = ["kv", "shard", "inverted-index", "vector-index"];

/** Who may import whom, among our own packages (architecture, tiers 0 to 5). A package that is not listed fails. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  model: [],
  native: ["runtime"],
  sharding: ["model"],
  runtime: ["model"],
  replication: ["seeded-random"],
  rpc: WORDS,
  "module-api": ["model", "runtime"],
  inference: ["model", "runtime", "module-api"],
  "service-runtime": ["model"],
  kv: WORDS,
  "vector-index": WORDS,
  "inverted-index": [...WORDS, "kv"],
  shard: [...WORDS, "kv", "vector-index", "inverted-index"],
  cluster: [...WORDS, ...CONTRACTS],
  ingest: [...WORDS, ...CONTRACTS, "cluster"],
  query: [...WORDS, ...CONTRACTS, "cluster"],
  classification: [...WORDS, ...CONTRACTS, "cluster", "ingest", "query"],
  gateway: [...WORDS, ...CONTRACTS, "cluster", "ingest", "query", "classification"],
  "storage-node": [...WORDS, ...CONTRACTS, ...DISK, "cluster"],
  coordinator: [...WORDS, ...CONTRACTS, "kv"],
  console: [],
  "seeded-random": [],
};
/** Harnesses on top of everything. */
export const MAY_IMPORT_ALL: readonly string[] = ["cli", "scripts", "e2e", "data-sets"];
/** Each of `packages/modules/*`. */
export const MODULE_MAY_IMPORT: readonly string[] = [
  "model",
  "runtime",
  "native",
  "module-api",
  "inference",
  "service-runtime",
];
