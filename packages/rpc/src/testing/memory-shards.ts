import {
  CLIENT_PHRASES,
  type DataObject,
  type JsonObject,
  type ObjectId,
  type ObjectListing,
  type ObjectMerge,
  type Properties,
  type PropertyDefinition,
  type PutMode,
  type PutTimes,
  type RowFields,
  type ShardFilter,
  ShoalError,
  type StoredObject,
  type VectorSearch,
  type VectorSearchHit,
  withoutReferences,
} from "@shoal/model";
import { plainParts } from "@shoal/model/testing/plain-aggregate";
import { plainMatches } from "@shoal/model/testing/plain-filter";
import type { FoundObjects, ShardAddress, ShardService } from "../shard-service.js";

export interface MemoryRow {
  readonly object: DataObject;
  readonly times: PutTimes;
}

export type MemoryRows = Map<ObjectId, MemoryRow>;

/** What a shard is asked for. */
export interface ShardRequest {
  readonly method: keyof ShardService;
  readonly shard: ShardAddress;
  /** Objects that it brings, or that it asks for at most. */
  readonly size: number;
  readonly mode?: PutMode;
}

export interface MemoryShardsOptions {
  /** Fails for a shard that is not to be reached. */
  rows(shard: ShardAddress): MemoryRows;
  /** Of the objects of a class, as filters and aggregations need them. */
  properties(className: string): readonly PropertyDefinition[];
  /** All shards of the node. */
  shards(): readonly ShardAddress[];
  /** Those of them that cannot say which objects they have. */
  isDown?(shard: ShardAddress): boolean;
  /** Before a shard does what it is asked for; what it throws is the response. */
  before?(request: ShardRequest): void | Promise<void>;
  /** Before the node says which of its shards have some objects. */
  beforeFind?(ids: readonly ObjectId[]): void | Promise<void>;
  nowUnix?(): number;
}

/** The shards of a node as maps: every question is answered by a look at all rows. Methods may be replaced one by one. */
export function memoryShards(options: MemoryShardsOptions): {
  -readonly [Name in keyof ShardService]: ShardService[Name];
} {
  const { before = () => {}, nowUnix = () => 1 } = options;
  const enter = async (method: keyof ShardService, shard: ShardAddress, size: number, mode?: PutMode) => {
    const asked = before({ method, shard, size, ...(mode && { mode }) });
    if (asked !== undefined) await asked;
    return options.rows(shard);
  };
  const matching = (shard: ShardAddress, rows: MemoryRows, filter: ShardFilter | undefined): readonly MemoryRow[] => {
    const all = [...rows.values()];
    if (filter === undefined) return all;
    const properties = options.properties(shard.className);
    return all.filter(({ object, times }) =>
      plainMatches({ id: object.id, properties: object.properties ?? {}, ...times }, filter, properties),
    );
  };
  const none = () => Promise.reject(new Error("no test asks shards in memory how they are"));
  return {
    putObjects: async (shard, objects, mode) => {
      const rows = await enter("putObjects", shard, objects.length, mode);
      return objects.map((object) => put(rows, object, mode, nowUnix()));
    },
    mergeObject: async (shard, change) => storedForm(merge(await enter("mergeObject", shard, 1), change, nowUnix())),
    mergeObjects: async (shard, changes) => {
      const rows = await enter("mergeObjects", shard, changes.length);
      return changes.map((change) => mergeOne(rows, change, nowUnix()));
    },
    deleteObject: async (shard, id) => (await enter("deleteObject", shard, 1)).delete(id),
    getObjects: async (shard, ids, fields) => {
      const rows = await enter("getObjects", shard, ids.length);
      return ids.map((id) => {
        const row = rows.get(id);
        return row && storedForm(row, fields);
      });
    },
    findObjects: async (ids) => {
      const asked = options.beforeFind?.(ids);
      if (asked !== undefined) await asked;
      return find(options, ids);
    },
    searchByVector: async (shard, search) => {
      const rows = await enter("searchByVector", shard, search.count);
      return nearest(matching(shard, rows, search.filter), search);
    },
    listObjects: async (shard, listing) => {
      const rows = await enter("listObjects", shard, listing.limit);
      return page(matching(shard, rows, listing.filter), listing);
    },
    matchingIds: async (shard, filter, idsMax) => {
      const found = matching(shard, await enter("matchingIds", shard, idsMax), filter);
      if (found.length > idsMax) throw new ShoalError("tooLarge", "too many");
      return found.map(({ object }) => object.id).sort();
    },
    aggregate: async (shard, aggregation) => {
      const found = matching(shard, await enter("aggregate", shard, 1), aggregation.filter);
      const objects = found.map(({ object }) => object.properties ?? {});
      return plainParts(objects, options.properties(shard.className), aggregation);
    },
    shardStatuses: none,
    shardRecalls: none,
    shardCopies: none,
    shardSizes: none,
  };
}

const ALL_FIELDS = { properties: true, vector: true, extras: true };

/** A row as a shard answers with it. */
export function storedForm({ object, times }: MemoryRow, fields: RowFields = ALL_FIELDS): StoredObject {
  const { id, className, properties = {}, vector, extras } = object;
  return {
    ...{ id, className, ...times },
    propertiesJson: new TextEncoder().encode(JSON.stringify(fields.properties ? properties : {})),
    vector: fields.vector ? vector : undefined,
    extras: fields.extras ? extras : undefined,
  };
}

function put(rows: MemoryRows, object: DataObject, mode: PutMode, now: number): PutTimes | ShoalError {
  const old = rows.get(object.id);
  if (mode === "create" && old !== undefined)
    return new ShoalError("conflict", CLIENT_PHRASES.idAlreadyExists(object.id));
  if (mode === "replace" && old === undefined) return new ShoalError("notFound", `no object with id '${object.id}'`);
  const creationTimeUnix = mode === "replace" ? (old?.times.creationTimeUnix ?? now) : now;
  const times = { creationTimeUnix, lastUpdateTimeUnix: now };
  rows.set(object.id, { object, times });
  return times;
}

function merge(rows: MemoryRows, change: ObjectMerge, now: number): MemoryRow {
  const old = rows.get(change.id);
  if (old === undefined) throw new ShoalError("notFound", `no object with id '${change.id}'`);
  const isEmpty = (value: unknown) => value === undefined || (Array.isArray(value) && value.length === 0);
  if (change.ifEmpty?.some((name) => !isEmpty(old.object.properties?.[name])))
    throw new ShoalError("conflict", "not empty");
  const properties: Record<string, Properties[string]> = { ...old.object.properties, ...change.set };
  for (const name of change.clear) delete properties[name];
  for (const [name, list] of Object.entries(change.append)) {
    const before = properties[name];
    properties[name] = [...(Array.isArray(before) ? before : []), ...list];
  }
  for (const [name, ids] of Object.entries(change.remove)) properties[name] = withoutReferences(properties[name], ids);
  const additional = { ...(old.object.extras?.additional as JsonObject), ...change.additional };
  const extras = change.additional === undefined ? old.object.extras : { ...old.object.extras, additional };
  const object = { ...old.object, properties, vector: change.vector ?? old.object.vector, extras };
  const row = { object, times: { ...old.times, lastUpdateTimeUnix: now } };
  rows.set(change.id, row);
  return row;
}

function mergeOne(rows: MemoryRows, change: ObjectMerge, now: number): PutTimes | ShoalError {
  try {
    return merge(rows, change, now).times;
  } catch (thrown) {
    return ShoalError.from(thrown);
  }
}

function find(options: MemoryShardsOptions, ids: readonly ObjectId[]): FoundObjects {
  const holders: ShardAddress[][] = ids.map(() => []);
  const unasked: { shard: ShardAddress; error: ShoalError }[] = [];
  for (const shard of options.shards()) {
    try {
      if (options.isDown?.(shard)) throw new ShoalError("unavailable", `a shard of '${shard.className}' is down`);
      const rows = options.rows(shard);
      for (const [at, id] of ids.entries()) if (rows.has(id)) holders[at]?.push(shard);
    } catch (thrown) {
      unasked.push({ shard, error: ShoalError.from(thrown) });
    }
  }
  return { holders, unasked };
}

/** Brute force: cosine distance in float64, nearest first, then by id. */
export function nearest(rows: readonly MemoryRow[], search: VectorSearch): readonly VectorSearchHit[] {
  const { vector, fields, count, rowsMax = count } = search;
  const hits = rows.flatMap((row): VectorSearchHit[] => {
    const { object } = row;
    if (object.vector === undefined) return [];
    const distance = Math.fround(cosineDistance(object.vector, vector));
    return [{ id: object.id, distance, object: fields && storedForm(row, fields) }];
  });
  return hits
    .sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1))
    .slice(0, count)
    .map((hit, at) => (at < rowsMax ? hit : { ...hit, object: undefined }));
}

function page(rows: readonly MemoryRow[], listing: ObjectListing): readonly StoredObject[] {
  const { after, limit, order, skip = 0, fields } = listing;
  const time = ({ times }: MemoryRow) => (order === "id" ? 0 : times.creationTimeUnix);
  return rows
    .filter(({ object }) => after === undefined || object.id > after)
    .sort((a, b) => time(b) - time(a) || (a.object.id < b.object.id ? -1 : 1))
    .slice(skip, skip + limit)
    .map((row) => storedForm(row, fields));
}

function cosineDistance(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (const [i, x] of a.entries()) {
    const y = b[i] ?? 0;
    dot += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  return 1 - dot / Math.sqrt(squaresA * squaresB);
}
