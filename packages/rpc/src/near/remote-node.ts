import type {
  DataObject,
  ObjectId,
  ObjectListing,
  ObjectMerge,
  PutMode,
  PutTimes,
  RowFields,
  ShardAggregate,
  ShardAggregation,
  ShardFilter,
  ShoalError,
  StoredObject,
  VectorSearch,
  VectorSearchHit,
} from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { ConnectionState, NodeConnection } from "../node-connection.js";
import type { FoundObjects, ShardAddress, ShardRecall, ShardStatus } from "../shard-service.js";
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
import { type ConnectNodeOptions, NodeChannel } from "./node-channel.js";

/** The methods of a storage node over its channel. */
class RemoteNode implements NodeConnection {
  readonly name: string;
  readonly #channel: NodeChannel;

  constructor(name: string, address: string, options: ConnectNodeOptions) {
    this.name = name;
    this.#channel = new NodeChannel(name, address, options);
  }

  get state(): ConnectionState {
    return this.#channel.state;
  }

  onState(listener: (state: ConnectionState) => void): Disposable {
    return this.#channel.onState(listener);
  }

  putObjects(
    shard: ShardAddress,
    objects: readonly DataObject[],
    mode: PutMode,
    context: RequestContext,
  ): Promise<readonly (PutTimes | ShoalError)[]> {
    return this.#ask(PUT_OBJECTS, { shard, objects, mode }, context);
  }

  mergeObject(shard: ShardAddress, merge: ObjectMerge, context: RequestContext): Promise<StoredObject> {
    return this.#ask(MERGE_OBJECT, { shard, merge }, context);
  }

  mergeObjects(
    shard: ShardAddress,
    merges: readonly ObjectMerge[],
    context: RequestContext,
  ): Promise<readonly (PutTimes | ShoalError)[]> {
    return this.#ask(MERGE_OBJECTS, { shard, merges }, context);
  }

  deleteObject(shard: ShardAddress, id: ObjectId, context: RequestContext): Promise<boolean> {
    return this.#ask(DELETE_OBJECT, { shard, id }, context);
  }

  getObjects(
    shard: ShardAddress,
    ids: readonly ObjectId[],
    fields: RowFields,
    context: RequestContext,
  ): Promise<readonly (StoredObject | undefined)[]> {
    return this.#ask(GET_OBJECTS, { shard, ids, fields }, context);
  }

  findObjects(ids: readonly ObjectId[], schemaVersion: number, context: RequestContext): Promise<FoundObjects> {
    return this.#ask(FIND_OBJECTS, { ids, schemaVersion }, context);
  }

  searchByVector(
    shard: ShardAddress,
    search: VectorSearch,
    context: RequestContext,
  ): Promise<readonly VectorSearchHit[]> {
    return this.#ask(SEARCH_BY_VECTOR, { shard, search }, context);
  }

  listObjects(shard: ShardAddress, listing: ObjectListing, context: RequestContext): Promise<readonly StoredObject[]> {
    return this.#ask(LIST_OBJECTS, { shard, listing }, context);
  }

  matchingIds(
    shard: ShardAddress,
    filter: ShardFilter,
    idsMax: number,
    context: RequestContext,
  ): Promise<readonly ObjectId[]> {
    return this.#ask(MATCHING_IDS, { shard, filter, idsMax }, context);
  }

  aggregate(shard: ShardAddress, aggregation: ShardAggregation, context: RequestContext): Promise<ShardAggregate> {
    return this.#ask(AGGREGATE, { shard, aggregation }, context);
  }

  shardStatuses(context: RequestContext): Promise<readonly ShardStatus[]> {
    return this.#ask(SHARD_STATUSES, undefined, context);
  }

  shardRecalls(context: RequestContext): Promise<readonly ShardRecall[]> {
    return this.#ask(SHARD_RECALLS, undefined, context);
  }

  /** Ends the connection for good; what is under way fails with `unavailable`. */
  [Symbol.dispose](): void {
    this.#channel[Symbol.dispose]();
  }

  #ask<Request, Answer>(
    method: ShardMethod<Request, Answer>,
    request: Request,
    context: RequestContext,
  ): Promise<Answer> {
    // The answer is what the method's own codec reads.
    return this.#channel.ask(method as ShardMethod<unknown, unknown>, request, context) as Promise<Answer>;
  }
}

/**
 * Connects at once, and again whenever the connection breaks, until it is disposed of. `name` is the node that must answer
 * at `address` (`host:port`).
 */
export function connectNode(name: string, address: string, options: ConnectNodeOptions): NodeConnection {
  return new RemoteNode(name, address, options);
}
