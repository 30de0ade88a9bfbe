import type { KeyValueStore } from "@shoal/kv";
import { type PropertyDefinition, ShoalError, type VectorIndexConfig } from "@shoal/model";
import type { Gate, MemoryBudget } from "@shoal/runtime";
import { type CopyRecord, copyRecordChange, decodeCopyRecord, firstCopyState } from "./copy-record.js";
import { decodeFormatRecord, encodeFormatRecord } from "./format-record.js";
import type { IdPresenceFilter } from "./id-presence-filter.js";
import { indexIsWhole, indexRecord } from "./index-record.js";
import { COPY_KEY, FORMAT_KEY, INDEX_KEY } from "./key-layout.js";
import { EarlySnapshots } from "./load-snapshots.js";
import { MemoryAdmission } from "./memory-admission.js";
import type { CreateInvertedIndex } from "./object-index.js";
import { type CopyOptions, OwnCopy } from "./own-copy.js";
import { readHead } from "./read-journal.js";
import { rowReadGate } from "./read-rows.js";
import { RebuildRoom } from "./rebuild-room.js";
import { recover } from "./recover.js";
import { RowCacheBudget } from "./row-cache-budget.js";
import type { Shard } from "./shard.js";
import type { OnShardEvent } from "./shard-events.js";
import { DEFAULT_SHARD_LIMITS, type ShardLimits } from "./shard-limits.js";
import { snapshotPaths } from "./snapshot-files.js";
import { StoredShard } from "./stored-shard.js";
import { type VectorIndexes, VectorIndexSource } from "./vector-indexes.js";

export interface ShardOptions {
  /**
   * Belongs to this shard alone while it is open; its opener disposes of it after the shard. A promise: it is being opened, and the
   * snapshots are read meanwhile; so there must have been a store, which nobody begins anew.
   */
  readonly store: KeyValueStore | Promise<KeyValueStore>;
  /** For snapshots; made when it is missing. Never derived from user input. */
  readonly folder: string;
  /** The two names serve messages and answers, not storage. */
  readonly className: string;
  readonly shardName: string;
  readonly vectorIndexConfig: VectorIndexConfig;
  /** Length of the class's vectors when it is known; else the first vector decides. */
  readonly dimensions: number | undefined;
  readonly vectorIndexes: VectorIndexes;
  /** Of the class. */
  readonly properties: readonly PropertyDefinition[];
  readonly createIndex: CreateInvertedIndex;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly onEvent: OnShardEvent;
  readonly limits?: Partial<ShardLimits>;
  /** Memory for rows, shared with other shards; absent: `limits.rowCacheBytesMax` of its own. */
  readonly rowCache?: RowCacheBudget;
  /** Bounds what all shards that share it read at the same time; absent: one of its own. */
  readonly rowReads?: Gate;
  /** Of the coordinator's lease; a shard that has seen a higher one does not open. A shard with copies does not look at it. */
  readonly epoch?: number;
  /** Present: the store is one of the shard's copies. A store that is one opens as nothing else. */
  readonly copy?: CopyOptions;
  /** What the whole process may use; absent: writes are not refused for memory. */
  readonly memory?: MemoryBudget;
  /** Any number that clients do not know; keeps them from choosing ids that slow the id table down. */
  readonly hashSeed?: number;
  /** Counts the ids of all shards of the process, so that most questions for a new id need not go to each. */
  readonly idPresenceFilter?: IdPresenceFilter;
}

/**
 * Opens a shard, or makes one in an empty store. When this resolves, everything that was ever acknowledged is found by
 * id, by vector and by filter: a shard of an older format has got its inverted index. Only when that cannot be built now
 * the shard opens without it, and filters are refused until it is. Fails with `unavailable` when a newer release wrote the
 * data, with `conflict` for a stale epoch or other dimensions, and for a copy without `copy`, with `dataLoss` when the store is not a
 * shard's, or has lost its copy record.
 */
export async function openShard(options: ShardOptions): Promise<Shard> {
  const limits = { ...DEFAULT_SHARD_LIMITS, ...options.limits };
  const source = new VectorIndexSource(options.vectorIndexes, options.vectorIndexConfig, {
    unindexedVectorsMax: limits.unindexedVectorsMax,
    onMeasured: (recall) => options.onEvent({ type: "recallMeasured", recall }),
    hasRoom: options.memory && ((bytes) => options.memory?.hasRoom(bytes) !== false),
  });
  const { hashSeed = 0x5bd1e995, dimensions } = options;
  let early: EarlySnapshots | undefined;
  if (options.store instanceof Promise && dimensions !== undefined) {
    const wanted = source.skip ? undefined : dimensions;
    early = new EarlySnapshots(await snapshotPaths(options.folder), source, wanted, hashSeed);
  }
  try {
    return await openFrom(options, { limits, source, early, hashSeed });
  } catch (thrown) {
    await early?.settled();
    await source.dispose();
    throw thrown;
  }
}

interface Begun {
  readonly limits: ShardLimits;
  readonly source: VectorIndexSource;
  readonly early: EarlySnapshots | undefined;
  readonly hashSeed: number;
}

async function openFrom(options: ShardOptions, { limits, source, early, hashSeed }: Begun): Promise<Shard> {
  const place = `shard '${options.shardName}' of class '${options.className}'`;
  const began = options.clock();
  const { epoch = 0 } = options;
  const store = await options.store;
  const { dimensions: stored, ...format } = await readFormat(store, place);
  const record = await copyRecord(store, options.copy, format.isCopy, place);
  if (stored !== undefined && options.dimensions !== undefined && stored !== options.dimensions) {
    throw new ShoalError("conflict", `${place} holds vectors of ${stored} dimensions, not of ${options.dimensions}`);
  }
  const paths = await snapshotPaths(options.folder);
  let rowsAreWhole = true;
  const onEvent: OnShardEvent = (event) => {
    rowsAreWhole &&= event.type !== "damageFound" || event.damage.what === "snapshot";
    options.onEvent(event);
  };
  const { replayEntriesMax } = limits;
  const copy = record?.state;
  const dimensions = stored ?? options.dimensions;
  const { memory: budget, vectorIndexConfig } = options;
  const room = new RebuildRoom({
    ...{ budget, place, path: paths.vectors },
    vectorsKept: vectorIndexConfig.vectorCacheMaxObjects,
  });
  const recovery = {
    ...{ store, paths, source, early, dimensions, hashSeed, replayEntriesMax, onEvent, room, copy },
    areVectorsNoted: stored !== undefined,
  };
  const recovered = await recover(recovery);
  if (copy === undefined && epoch < recovered.epoch) {
    throw new ShoalError("conflict", `${place} has seen epoch ${recovered.epoch}, epoch ${epoch} is over`);
  }
  const { views, replayedChanges, rebuilt } = recovered;
  onEvent({
    type: "recovered",
    objectCount: views.table.count,
    sequence: views.sequence,
    replayedChanges,
    rebuilt,
    elapsedMs: options.clock() - began,
  });
  const { index } = views;
  const isNoted = stored !== undefined || index === undefined;
  const storedDimensions = isNoted ? stored : await noteDimensions(store, index.dimensions, record !== undefined);
  const {
    idPresenceFilter,
    rowCache = new RowCacheBudget(limits.rowCacheBytesMax),
    rowReads = rowReadGate(),
  } = options;
  // With rows their documents may be lost, and those be given to others: what the index has of them would be theirs.
  const indexIsWhole = format.indexIsWhole && rowsAreWhole;
  if (format.indexIsWhole && !rowsAreWhole) await outdateIndex(store);
  const parts = {
    store,
    limits,
    rowCache,
    rowReads,
    idPresenceFilter,
    epoch,
    copy: record && options.copy && new OwnCopy(record, options.copy.carrier),
    place,
    dimensions,
    storedDimensions,
    source,
    paths,
    recovered,
    indexIsWhole,
    hashSeed,
    memory: new MemoryAdmission(options.memory, place, options.copy?.shortNode),
  };
  return new StoredShard({ ...options, ...parts }).prepare();
}

/** Of a store that is a copy, or becomes one now. */
async function copyRecord(
  store: KeyValueStore,
  copy: CopyOptions | undefined,
  isCopy: boolean,
  place: string,
): Promise<CopyRecord | undefined> {
  if (!isCopy && copy === undefined) return undefined;
  if (copy === undefined) throw new ShoalError("conflict", `${place} is one of several copies, and opens as one only`);
  const stored = await store.get(COPY_KEY);
  if (stored !== undefined) return decodeCopyRecord(stored);
  if (isCopy) throw new ShoalError("dataLoss", `${place} has lost the record of which copy it is`);
  const head = await readHead(store);
  if (head === undefined) throw new ShoalError("dataLoss", `${place} cannot become a copy: its head record is damaged`);
  const record = { name: copy.name, state: firstCopyState(copy.since, head) };
  const format = await store.get(FORMAT_KEY);
  const dimensions = format && decodeFormatRecord(format, place).dimensions;
  const formatRecord = { type: "put", key: FORMAT_KEY, value: encodeFormatRecord(dimensions, true) } as const;
  await store.write([copyRecordChange(record), formatRecord], { sync: true });
  return record;
}

interface ShardFormat {
  readonly dimensions: number | undefined;
  readonly isCopy: boolean;
  readonly indexIsWhole: boolean;
}

/** What is on disk. An empty store gets its records: it becomes this shard's. */
async function readFormat(store: KeyValueStore, place: string): Promise<ShardFormat> {
  const [record, index] = await store.getMany([FORMAT_KEY, INDEX_KEY]);
  if (record instanceof Error) throw record;
  if (record !== undefined) {
    const { dimensions, isCopy } = decodeFormatRecord(record, place);
    return { dimensions, isCopy, indexIsWhole: !(index instanceof Error) && indexIsWhole(index) };
  }
  for await (const _ of store.scan({ limit: 1 }, () => {})) {
    throw new ShoalError("dataLoss", `${place} has data but no format record`);
  }
  const format = { type: "put", key: FORMAT_KEY, value: encodeFormatRecord(undefined) } as const;
  await store.write([format, indexRecord(true)], { sync: true });
  return { dimensions: undefined, isCopy: false, indexIsWhole: true };
}

/** The same; undefined: a disk that takes no writes has not taken it, and the next commit notes it. */
async function noteDimensions(store: KeyValueStore, dimensions: number, isCopy: boolean): Promise<number | undefined> {
  const change = { type: "put", key: FORMAT_KEY, value: encodeFormatRecord(dimensions, isCopy) } as const;
  return store.write([change], { sync: true }).then(
    () => dimensions,
    () => undefined,
  );
}

/** A disk that takes no writes does not keep a shard from being read: every commit says it again until it is built. */
async function outdateIndex(store: KeyValueStore): Promise<void> {
  await store.write([indexRecord(false)], { sync: true }).catch(() => {});
}
