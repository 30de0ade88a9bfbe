import type {
  MeasuredRecall,
  ObjectId,
  ObjectListing,
  RowFields,
  ShardAggregate,
  ShardAggregation,
  ShardFilter,
  StoredObject,
  VectorSearch,
  VectorSearchHit,
} from "@shoal/model";
import type { FoundObjects, ShardAddress, ShardRecall, ShardStatus } from "../shard-service.js";
import { readAggregate, readAggregation, writeAggregate, writeAggregation } from "./aggregate-codec.js";
import type { ByteReader } from "./byte-reader.js";
import type { ByteWriter } from "./byte-writer.js";
import { readError, writeError } from "./error-codec.js";
import { readFilter, writeFilter } from "./filter-codec.js";
import {
  readAddress,
  readFields,
  readStoredObject,
  writeAddress,
  writeFields,
  writeStoredObject,
} from "./object-codec.js";
import type { ShardMethod } from "./shard-method.js";

/** Pages of so many rows go beside the small requests. */
const SMALL_ROWS_MAX = 256;

const ORDERS: readonly ObjectListing["order"][] = ["newest", "id"];
const STATUSES: readonly ShardStatus["status"][] = ["ready", "readOnly", "failed"];

const never = () => false;
const always = () => true;

export const GET_OBJECTS: ShardMethod<
  { readonly shard: ShardAddress; readonly ids: readonly ObjectId[]; readonly fields: RowFields },
  readonly (StoredObject | undefined)[]
> = {
  code: 5,
  name: "getObjects",
  isBulk: ({ ids }) => ids.length > SMALL_ROWS_MAX,
  hasRows: ({ fields }) => keepsRows(fields),
  writeRequest(writer, { shard, ids, fields }) {
    writeAddress(writer, shard);
    writer.list(ids, writeId);
    writeFields(writer, fields);
  },
  readRequest: (reader) => ({ shard: readAddress(reader), ids: reader.list(readId), fields: readFields(reader) }),
  writeAnswer: (writer, objects, { shard }) =>
    writer.list(objects, (to, object) => writeOptionalObject(to, object, shard.className)),
  readAnswer: (reader, { shard }) => reader.list((from) => readOptionalObject(from, shard.className)),
  serve: (service, { shard, ids, fields }, context) => service.getObjects(shard, ids, fields, context),
};

export const FIND_OBJECTS: ShardMethod<
  { readonly ids: readonly ObjectId[]; readonly schemaVersion: number },
  FoundObjects
> = {
  code: 6,
  name: "findObjects",
  isBulk: ({ ids }) => ids.length > SMALL_ROWS_MAX,
  hasRows: never,
  writeRequest(writer, { ids, schemaVersion }) {
    writer.list(ids, writeId);
    writer.count(schemaVersion);
  },
  readRequest: (reader) => ({ ids: reader.list(readId), schemaVersion: reader.count() }),
  writeAnswer(writer, { holders, unasked }) {
    writer.list(holders, (to, shards) => to.list(shards, writeAddress));
    writer.list(unasked, (to, { shard, error }) => {
      writeAddress(to, shard);
      writeError(to, error);
    });
  },
  readAnswer: (reader) => ({
    holders: reader.list((from) => from.list(readAddress)),
    unasked: reader.list((from) => ({ shard: readAddress(from), error: readError(from) })),
  }),
  serve: (service, { ids, schemaVersion }, context) => service.findObjects(ids, schemaVersion, context),
};

export const SEARCH_BY_VECTOR: ShardMethod<
  { readonly shard: ShardAddress; readonly search: VectorSearch },
  readonly VectorSearchHit[]
> = {
  code: 7,
  name: "searchByVector",
  isBulk: ({ search }) => search.count > SMALL_ROWS_MAX,
  hasRows: ({ search }) => search.fields !== undefined && keepsRows(search.fields),
  writeRequest(writer, { shard, search }) {
    writeAddress(writer, shard);
    writer.floats(search.vector);
    writer.double(search.count);
    writer.optional(search.fields, writeFields);
    writer.optional(search.filter, writeFilter);
    writer.optional(search.shards, (to, shards) => to.count(shards));
    writer.optional(search.rowsMax, (to, rowsMax) => to.count(rowsMax));
  },
  readRequest: (reader) => ({
    shard: readAddress(reader),
    search: {
      vector: reader.floats(),
      count: reader.double(),
      fields: reader.optional(readFields),
      filter: reader.optional((from) => readFilter(from)),
      shards: reader.optional((from) => from.count()),
      rowsMax: reader.optional((from) => from.count()),
    },
  }),
  writeAnswer: (writer, hits, { shard }) =>
    writer.list(hits, (to, { id, distance, object }) => {
      to.double(distance);
      writeOptionalObject(to, object, shard.className);
      if (object === undefined) to.id(id);
    }),
  readAnswer: (reader, { shard }) =>
    reader.list((from) => {
      const distance = from.double();
      const object = readOptionalObject(from, shard.className);
      return { id: object === undefined ? from.id() : object.id, distance, object };
    }),
  serve: (service, { shard, search }, context) => service.searchByVector(shard, search, context),
};

export const LIST_OBJECTS: ShardMethod<
  { readonly shard: ShardAddress; readonly listing: ObjectListing },
  readonly StoredObject[]
> = {
  code: 8,
  name: "listObjects",
  isBulk: ({ listing }) => listing.limit > SMALL_ROWS_MAX,
  hasRows: ({ listing }) => keepsRows(listing.fields),
  writeRequest(writer, { shard, listing }) {
    writeAddress(writer, shard);
    writer.byte(ORDERS.indexOf(listing.order));
    writer.optional(listing.after, writeId);
    writer.double(listing.limit);
    writer.double(listing.skip ?? 0);
    writer.optional(listing.filter, writeFilter);
    writeFields(writer, listing.fields);
  },
  readRequest: (reader) => ({
    shard: readAddress(reader),
    listing: {
      order: reader.choice(ORDERS, "order"),
      after: reader.optional(readId),
      limit: reader.double(),
      skip: reader.double(),
      filter: reader.optional((from) => readFilter(from)),
      fields: readFields(reader),
    },
  }),
  writeAnswer: (writer, objects, { shard }) =>
    writer.list(objects, (to, object) => writeStoredObject(to, object, shard.className)),
  readAnswer: (reader, { shard }) => reader.list((from) => readStoredObject(from, shard.className)),
  serve: (service, { shard, listing }, context) => service.listObjects(shard, listing, context),
};

export const MATCHING_IDS: ShardMethod<
  { readonly shard: ShardAddress; readonly filter: ShardFilter; readonly idsMax: number },
  readonly ObjectId[]
> = {
  code: 9,
  name: "matchingIds",
  isBulk: always,
  hasRows: never,
  writeRequest(writer, { shard, filter, idsMax }) {
    writeAddress(writer, shard);
    writeFilter(writer, filter);
    writer.double(idsMax);
  },
  readRequest: (reader) => ({ shard: readAddress(reader), filter: readFilter(reader), idsMax: reader.double() }),
  writeAnswer: (writer, ids) => writer.list(ids, writeId),
  readAnswer: (reader) => reader.list(readId),
  serve: (service, { shard, filter, idsMax }, context) => service.matchingIds(shard, filter, idsMax, context),
};

export const AGGREGATE: ShardMethod<
  { readonly shard: ShardAddress; readonly aggregation: ShardAggregation },
  ShardAggregate
> = {
  code: 10,
  name: "aggregate",
  isBulk: always,
  hasRows: never,
  writeRequest(writer, { shard, aggregation }) {
    writeAddress(writer, shard);
    writeAggregation(writer, aggregation);
  },
  readRequest: (reader) => ({ shard: readAddress(reader), aggregation: readAggregation(reader) }),
  writeAnswer: writeAggregate,
  readAnswer: readAggregate,
  serve: (service, { shard, aggregation }, context) => service.aggregate(shard, aggregation, context),
};

export const SHARD_STATUSES: ShardMethod<undefined, readonly ShardStatus[]> = {
  code: 11,
  name: "shardStatuses",
  isBulk: never,
  hasRows: never,
  writeRequest: () => undefined,
  readRequest: () => undefined,
  writeAnswer: (writer, statuses) =>
    writer.list(statuses, (to, { address, objectCount, status, reason }) => {
      writeAddress(to, address);
      to.count(objectCount);
      to.byte(STATUSES.indexOf(status));
      to.optional(reason, (each, text) => each.text(text));
    }),
  readAnswer: (reader) =>
    reader.list((from) => ({
      address: readAddress(from),
      objectCount: from.count(),
      status: from.choice(STATUSES, "status of a shard"),
      reason: from.optional((each) => each.text()),
    })),
  serve: (service, _request, context) => service.shardStatuses(context),
};

export const SHARD_RECALLS: ShardMethod<undefined, readonly ShardRecall[]> = {
  code: 12,
  name: "shardRecalls",
  isBulk: never,
  hasRows: never,
  writeRequest: () => undefined,
  readRequest: () => undefined,
  writeAnswer: (writer, recalls) =>
    writer.list(recalls, (to, { address, recall }) => {
      writeAddress(to, address);
      writeRecall(to, recall);
    }),
  readAnswer: (reader) => reader.list((from) => ({ address: readAddress(from), recall: readRecall(from) })),
  serve: (service, _request, context) => service.shardRecalls(context),
};

const QUERIES: readonly MeasuredRecall["queries"][] = ["asked", "rows"];

function writeRecall(to: ByteWriter, recall: MeasuredRecall): void {
  const { target, error, candidates, sample, queries, linked, measuredAtMs } = recall;
  for (const number of [target, recall.recall, error, candidates]) to.double(number);
  to.count(sample);
  to.byte(QUERIES.indexOf(queries));
  to.count(linked);
  to.double(measuredAtMs);
}

function readRecall(from: ByteReader): MeasuredRecall {
  return {
    target: from.double(),
    recall: from.double(),
    error: from.double(),
    candidates: from.double(),
    sample: from.count(),
    queries: from.choice(QUERIES, "queries of a measured recall"),
    linked: from.count(),
    measuredAtMs: from.double(),
  };
}

/** Rows of which no part is asked for are not counted, as in the process. */
function keepsRows({ properties, vector, extras }: RowFields): boolean {
  return properties || vector || extras;
}

function writeOptionalObject(writer: ByteWriter, object: StoredObject | undefined, className: string): void {
  writer.flag(object !== undefined);
  if (object !== undefined) writeStoredObject(writer, object, className);
}

function readOptionalObject(reader: ByteReader, className: string): StoredObject | undefined {
  return reader.flag() ? readStoredObject(reader, className) : undefined;
}

function writeId(writer: ByteWriter, id: ObjectId): void {
  writer.id(id);
}

function readId(reader: ByteReader): ObjectId {
  return reader.id();
}
