import {
  type DataObject,
  type ObjectId,
  type ObjectListing,
  type ObjectMerge,
  type PutMode,
  type PutTimes,
  type RowFields,
  type ShardAggregate,
  type ShardAggregation,
  type ShardFilter,
  ShoalError,
  type StoredObject,
  type VectorSearch,
  type VectorSearchHit,
} from "@shoal/model";
import type { FoundObjects, RequestContext, SchemaService, ShardAddress, ShardService, ShardStatus } from "@shoal/rpc";
import type { Shard } from "@shoal/shard";
import { findObjects } from "./find-objects.js";
import { ShardRegistry, type ShardRegistryOptions } from "./shard-registry.js";

/**
 * The shards of one node behind `ShardService`. Follows the schema by itself; a request for a shard that is still being
 * opened waits for it.
 */
export class StorageNode implements ShardService, AsyncDisposable {
  readonly name: string;
  readonly #registry: ShardRegistry;
  readonly #subscription: Disposable;

  private constructor(name: string, registry: ShardRegistry, subscription: Disposable) {
    this.name = name;
    this.#registry = registry;
    this.#subscription = subscription;
  }

  /** Resolves when every shard that the schema places here is open or is known to have failed. */
  static async start(schema: SchemaService, options: ShardRegistryOptions): Promise<StorageNode> {
    const registry = new ShardRegistry(options);
    await registry.start(await schema.current({ deadline: Number.POSITIVE_INFINITY }));
    const subscription = schema.watch((snapshot) => registry.follow(snapshot));
    return new StorageNode(options.nodeName, registry, subscription);
  }

  async putObjects(
    address: ShardAddress,
    objects: readonly DataObject[],
    mode: PutMode,
    _context: RequestContext,
  ): Promise<readonly (PutTimes | ShoalError)[]> {
    return this.#ask(address, (shard) => shard.putObjects(objects, mode));
  }

  async mergeObject(address: ShardAddress, merge: ObjectMerge, _context: RequestContext): Promise<StoredObject> {
    return this.#ask(address, (shard) => shard.mergeObject(merge));
  }

  async mergeObjects(
    address: ShardAddress,
    merges: readonly ObjectMerge[],
    _context: RequestContext,
  ): Promise<readonly (PutTimes | ShoalError)[]> {
    return this.#ask(address, (shard) => shard.mergeObjects(merges));
  }

  async deleteObject(address: ShardAddress, id: ObjectId, _context: RequestContext): Promise<boolean> {
    return this.#ask(address, (shard) => shard.deleteObject(id));
  }

  async getObjects(
    address: ShardAddress,
    ids: readonly ObjectId[],
    fields: RowFields,
    context: RequestContext,
  ): Promise<readonly (StoredObject | undefined)[]> {
    const shard = await this.#shard(address);
    return shard.getObjects(ids, fields, context);
  }

  async findObjects(
    ids: readonly ObjectId[],
    schemaVersion: number,
    { signal }: RequestContext,
  ): Promise<FoundObjects> {
    const known = this.#registry.schemaVersion;
    if (known < schemaVersion) {
      throw new ShoalError(
        "unavailable",
        `node '${this.name}' is at version ${known} of the schema, version ${schemaVersion} is asked for`,
        { retryAfterSeconds: 1 },
      );
    }
    return findObjects(this.#registry, ids, signal);
  }

  async searchByVector(
    address: ShardAddress,
    search: VectorSearch,
    context: RequestContext,
  ): Promise<readonly VectorSearchHit[]> {
    return this.#ask(address, (shard) => shard.searchByVector(search, context));
  }

  async listObjects(
    address: ShardAddress,
    listing: ObjectListing,
    context: RequestContext,
  ): Promise<readonly StoredObject[]> {
    const shard = await this.#shard(address);
    return shard.listObjects(listing, context);
  }

  async matchingIds(
    address: ShardAddress,
    filter: ShardFilter,
    idsMax: number,
    context: RequestContext,
  ): Promise<readonly ObjectId[]> {
    return this.#ask(address, (shard) => shard.matchingIds(filter, idsMax, context));
  }

  async aggregate(
    address: ShardAddress,
    aggregation: ShardAggregation,
    context: RequestContext,
  ): Promise<ShardAggregate> {
    return this.#ask(address, (shard) => shard.aggregate(aggregation, context));
  }

  async shardStatuses(_context: RequestContext): Promise<readonly ShardStatus[]> {
    const statuses: ShardStatus[] = [];
    for (const { address, shard, error } of this.#registry.all()) {
      if (shard !== undefined) statuses.push({ address, ...shard.condition() });
      else statuses.push({ address, objectCount: 0, status: "failed", reason: error?.message ?? "it is being opened" });
    }
    return statuses;
  }

  /** Closes all shards after the writes that were accepted. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription[Symbol.dispose]();
    await this.#registry[Symbol.asyncDispose]();
  }

  /** A shard whose views have failed is opened anew for those that ask next. */
  async #ask<T>(address: ShardAddress, work: (shard: Shard) => Promise<T>): Promise<T> {
    const shard = await this.#shard(address);
    try {
      return await work(shard);
    } catch (thrown) {
      if (shard.condition().status === "failed") this.#registry.renew(address, shard);
      throw thrown;
    }
  }

  #shard(address: ShardAddress): Shard | Promise<Shard> {
    return this.#registry.get(address);
  }
}
