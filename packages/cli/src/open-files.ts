import { type ShardLimit, ShoalError } from "@shoal/model";

/**
 * Files that a store of little data has open: five of its own, up to four tables until they are merged, and one in
 * reserve. Large stores have more tables, up to `filesOfStore`, but where there are many shards few are large.
 */
const FILES_PER_SHARD = 10;

const STORE_FILES_MIN = 32;
const STORE_FILES_MAX = 256;

/** Files that the process has open beside shards and connections (26 after a start), with room for merges and logs. */
const OWN_FILES = 128;

/** With fewer connections nobody can work, nor delete classes. */
const CONNECTIONS_MIN = 16;

/** Of the files, the part that shards may take; the rest is for connections. */
const SHARE_OF_SHARDS = 2 / 3;

export interface OpenFilesWanted {
  /** `SCHEMA_SHARDS_MAX` */
  readonly shardsMax: number;
  /** `HTTP_CONNECTIONS_MAX`, of a storage node those of its internal port. */
  readonly connectionsMax: number;
}

/** How many shards and connections a process can have with the files that it may open. */
export interface OpenFilesPlan extends OpenFilesWanted {
  readonly limit: number;
}

/** What fits into `limit` open files. Fails with `unavailable` when that is too little to work at all. */
export function planOpenFiles(limit: number, wanted: OpenFilesWanted): OpenFilesPlan {
  const least = OWN_FILES + Math.ceil(CONNECTIONS_MIN / (1 - SHARE_OF_SHARDS));
  if (limit < least) {
    throw new ShoalError(
      "unavailable",
      `this process may have ${limit} open files, at least ${least} are needed: raise the limit (ulimit -n)`,
    );
  }
  const shared = limit - OWN_FILES;
  const forShards = Math.min(wanted.shardsMax * FILES_PER_SHARD, Math.floor(shared * SHARE_OF_SHARDS));
  return {
    limit,
    shardsMax: Math.min(wanted.shardsMax, Math.floor(forShards / FILES_PER_SHARD)),
    connectionsMax: Math.min(wanted.connectionsMax, shared - forShards),
  };
}

/**
 * The plan for a schema that has `shards` already: they come first, and connections get what is left. Fails with
 * `unavailable` when the shards do not fit. Then nothing is served, rather than a part of it: with the data of some shards
 * missing, ids would be given twice, references refused and writes lost from sight, and the way out is one line in a shell.
 */
export function planFor(shards: number, plan: OpenFilesPlan): OpenFilesPlan {
  const left = plan.limit - OWN_FILES - shards * FILES_PER_SHARD;
  if (left < CONNECTIONS_MIN) {
    throw new ShoalError(
      "unavailable",
      `the ${shards} shards of the schema need ${plan.limit - left + CONNECTIONS_MIN} open files, this process may have ` +
        `${plan.limit}: raise the limit (ulimit -n)`,
    );
  }
  return { ...plan, connectionsMax: Math.min(plan.connectionsMax, left) };
}

/** `openFilesMax` of a store when there are `shards` stores; RocksDB works with few, but slowly. */
export function filesOfStore(shards: number, { limit, connectionsMax }: OpenFilesPlan): number {
  const share = Math.floor((limit - OWN_FILES - connectionsMax) / Math.max(1, shards));
  return Math.max(STORE_FILES_MIN, Math.min(STORE_FILES_MAX, share));
}

/** What a plan has less than was wanted, in one line; undefined when it has it all. */
export function shortage({ limit, shardsMax, connectionsMax }: OpenFilesPlan, wanted: OpenFilesWanted) {
  if (shardsMax >= wanted.shardsMax && connectionsMax >= wanted.connectionsMax) return undefined;
  return (
    `this process may have ${limit} open files (ulimit -n), enough for ${shardsMax} shards ` +
    `(SCHEMA_SHARDS_MAX: ${wanted.shardsMax}) and ${connectionsMax} connections (HTTP_CONNECTIONS_MAX: ${wanted.connectionsMax})`
  );
}

/** What new classes are held to: the setting, or what this process can hold open. */
export function shardLimit({ limit, shardsMax }: OpenFilesPlan, wanted: number): ShardLimit {
  if (shardsMax >= wanted) return { max: wanted, reason: "SCHEMA_SHARDS_MAX" };
  return { max: shardsMax, reason: `this process may have ${limit} open files: ulimit -n` };
}

/** The limit of this process; node has raised the soft one to the hard one at its start. */
export function openFilesLimit(): number {
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } };
  };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : Number.POSITIVE_INFINITY;
}
