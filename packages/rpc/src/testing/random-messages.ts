import { ShoalError } from "@shoal/model";
import { encodeFailure, encodeHello, writeRequestHead } from "../stream/message-head.js";
import { ByteWriter } from "../wire/byte-writer.js";
import {
  AGGREGATE,
  FIND_OBJECTS,
  GET_OBJECTS,
  LIST_OBJECTS,
  MATCHING_IDS,
  SEARCH_BY_VECTOR,
  SHARD_RECALLS,
  SHARD_STATUSES,
} from "../wire/read-methods.js";
import type { ShardMethod } from "../wire/shard-method.js";
import { DELETE_OBJECT, MERGE_OBJECT, MERGE_OBJECTS, PUT_OBJECTS } from "../wire/write-methods.js";
import type { RandomValues } from "./random-values.js";

/** A message as it crosses the wire. */
export interface WireMessage {
  /** `hello`, `head`, `failure`, or the name of a method. */
  readonly name: string;
  readonly request: Buffer;
  /** Empty of what has no answer. */
  readonly answer: Buffer;
}

/** One random message of each kind, and one random request of each method with an answer to it. */
export function drawMessages(values: RandomValues): readonly WireMessage[] {
  const shard = values.address();
  const ids = values.list(() => values.id());
  const error = () =>
    new ShoalError(values.oneOf(["invalid", "unavailable"]), values.text(), { retryAfterSeconds: 2.5 });
  const outcomes = values.list(() =>
    values.flag() ? { creationTimeUnix: 5, lastUpdateTimeUnix: values.double() } : error(),
  );
  const statuses = values.list(() => ({
    address: values.address(),
    objectCount: 700,
    status: values.oneOf(["ready", "readOnly", "failed"] as const),
    reason: values.maybe(() => values.text()),
  }));
  const found = {
    holders: values.list(() => values.list(() => values.address())),
    unasked: values.list(() => ({ shard: values.address(), error: error() })),
  };
  const mode = values.oneOf(["create", "replace", "upsert"] as const);
  const objects = values.list(() => values.dataObject());
  const merges = values.list(() => values.merge());
  const rows = values.list(() => values.storedObject());
  const maybeRows = values.list(() => values.maybe(() => values.storedObject()));
  const timeoutMs = values.oneOf([undefined, 1, 30_000]);
  const head = { method: 7, schemaVersion: 2 ** 40, timeoutMs, requestId: values.oneOf([undefined, "abc-1"]) };
  return [
    alone("hello", encodeHello({ nodeName: "node-1", schemaVersion: 300 })),
    alone(
      "head",
      ByteWriter.bytesOf((writer) => writeRequestHead(writer, head)),
    ),
    alone("failure", encodeFailure({ schemaVersion: 300, isUntouched: values.flag(), error: error() })),
    exchange(PUT_OBJECTS, { shard, objects, mode }, outcomes),
    exchange(MERGE_OBJECT, { shard, merge: values.merge() }, values.storedObject()),
    exchange(MERGE_OBJECTS, { shard, merges }, outcomes),
    exchange(DELETE_OBJECT, { shard, id: values.id() }, values.flag()),
    exchange(GET_OBJECTS, { shard, ids, fields: values.fields() }, maybeRows),
    exchange(FIND_OBJECTS, { ids, schemaVersion: 2 ** 40 }, found),
    exchange(
      SEARCH_BY_VECTOR,
      { shard, search: values.search() },
      values.list(() => values.hit()),
    ),
    exchange(LIST_OBJECTS, { shard, listing: values.listing() }, rows),
    exchange(MATCHING_IDS, { shard, filter: values.filter(), idsMax: 1e6 }, ids),
    exchange(AGGREGATE, { shard, aggregation: values.aggregation() }, values.aggregate()),
    exchange(SHARD_STATUSES, undefined, statuses),
    exchange(
      SHARD_RECALLS,
      undefined,
      values.list(() => ({ address: values.address(), recall: values.recall() })),
    ),
  ];
}

function alone(name: string, request: Buffer): WireMessage {
  return { name, request, answer: Buffer.alloc(0) };
}

function exchange<Request, Answer>(
  { name, writeRequest, writeAnswer }: ShardMethod<Request, Answer>,
  request: Request,
  answer: Answer,
): WireMessage {
  return {
    name,
    request: ByteWriter.bytesOf((writer) => writeRequest(writer, request)),
    answer: ByteWriter.bytesOf((writer) => writeAnswer(writer, answer, request)),
  };
}
