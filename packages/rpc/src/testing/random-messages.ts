import { ShoalError } from "@shoal/model";
import { SHARD_METHODS } from "../shard-methods.js";
import { ShardMoved } from "../shard-moved.js";
import type { ShardService } from "../shard-service.js";
import { failure, hello, requestHead } from "../stream/message-head.js";
import { ByteWriter } from "../wire/byte-writer.js";
import type { Codec } from "../wire/codec.js";
import { nodeMessage } from "../wire/copy-codec.js";
import type { RandomValues } from "./random-values.js";

/** A message as it crosses the wire. */
export interface WireMessage {
  /** `hello`, `head`, `failure`, `moved`, `message` (to another storage node), or the name of a method. */
  readonly name: string;
  readonly request: Buffer;
  /** Empty of what has no response. */
  readonly response: Buffer;
}

/** One random message of each kind, and one random request of each method with a response to it. */
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
  const moved = new ShardMoved(
    values.text(),
    values.maybe(() => values.configuration()),
  );
  const head = { method: 7, schemaVersion: 2 ** 40, timeoutMs, requestId: values.oneOf([undefined, "abc-1"]) };
  return [
    alone("hello", hello, { nodeName: "node-1", schemaVersion: 300 }),
    alone("head", requestHead, head),
    alone("failure", failure, { schemaVersion: 300, isUntouched: values.flag(), error: error() }),
    exchange("putObjects", [shard, objects, mode], outcomes),
    exchange("mergeObject", [shard, values.merge()], values.storedObject()),
    exchange("mergeObjects", [shard, merges], outcomes),
    exchange("deleteObject", [shard, values.id()], values.flag()),
    exchange("getObjects", [shard, ids, values.fields()], maybeRows),
    exchange("findObjects", [ids, 2 ** 40], found),
    exchange(
      "searchByVector",
      [shard, values.search()],
      values.list(() => values.hit()),
    ),
    exchange("listObjects", [shard, values.listing()], rows),
    exchange("matchingIds", [shard, values.filter(), 1e6], ids),
    exchange("aggregate", [shard, values.aggregation()], values.aggregate()),
    exchange("shardStatuses", [], statuses),
    exchange(
      "shardRecalls",
      [],
      values.list(() => ({ address: values.address(), recall: values.recall() })),
    ),
    alone("moved", failure, { schemaVersion: 300, isUntouched: values.flag(), error: moved }),
    exchange(
      "shardCopies",
      [],
      values.list(() => values.copyReport()),
    ),
    exchange(
      "shardSizes",
      [],
      values.list(() => values.shardSize()),
    ),
    ...values.nodeMessages().map((message) => alone("message", nodeMessage, message)),
  ];
}

function alone<Value>(name: string, codec: Codec<Value>, value: Value): WireMessage {
  return { name, request: ByteWriter.bytesOf((writer) => codec(writer, value)), response: Buffer.alloc(0) };
}

function exchange(name: keyof ShardService, args: readonly unknown[], response: unknown): WireMessage {
  const method = SHARD_METHODS.find((one) => one.name === name);
  if (method === undefined) throw new Error(`there is no method ${name}`);
  return {
    name,
    request: ByteWriter.bytesOf((writer) => method.request(writer, args)),
    response: ByteWriter.bytesOf((writer) => method.response(writer, response, args)),
  };
}
