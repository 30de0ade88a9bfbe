import type {
  DataObject,
  ObjectId,
  ObjectListing,
  ObjectMerge,
  PutMode,
  RowFields,
  ShardAggregation,
  ShardFilter,
  VectorSearch,
} from "@shoal/model";
import type { ShardAddress, ShardService } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { bytesOfMerge, bytesOfObjects, isRepeatableMerge, isRepeatablePut } from "./node-request.js";
import type { PatientNode } from "./patient-node.js";

const NO_BYTES = (): number => 0;

/** A storage node whose absence is waited out as far as that is of use; which requests are repeated stands here. */
export class PatientShardService implements ShardService {
  readonly #node: PatientNode;

  constructor(node: PatientNode) {
    this.#node = node;
  }

  putObjects(shard: ShardAddress, objects: readonly DataObject[], mode: PutMode, context: RequestContext) {
    return this.#node.ask({
      run: (node) => node.putObjects(shard, objects, mode, context),
      context,
      shard,
      isRepeatable: isRepeatablePut(mode),
      bytes: () => bytesOfObjects(objects),
    });
  }

  mergeObject(shard: ShardAddress, merge: ObjectMerge, context: RequestContext) {
    return this.#node.ask({
      run: (node) => node.mergeObject(shard, merge, context),
      context,
      shard,
      isRepeatable: isRepeatableMerge(merge),
      bytes: () => bytesOfMerge(merge),
    });
  }

  mergeObjects(shard: ShardAddress, merges: readonly ObjectMerge[], context: RequestContext) {
    return this.#node.ask({
      run: (node) => node.mergeObjects(shard, merges, context),
      context,
      shard,
      isRepeatable: merges.every(isRepeatableMerge),
      bytes: () => merges.reduce((sum, merge) => sum + bytesOfMerge(merge), 0),
    });
  }

  /** Done twice it would deny that the object was there. */
  deleteObject(shard: ShardAddress, id: ObjectId, context: RequestContext) {
    return this.#node.ask({
      run: (node) => node.deleteObject(shard, id, context),
      context,
      shard,
      isRepeatable: false,
      bytes: NO_BYTES,
    });
  }

  getObjects(shard: ShardAddress, ids: readonly ObjectId[], fields: RowFields, context: RequestContext) {
    return this.#read(shard, context, (node, within) => node.getObjects(shard, ids, fields, within));
  }

  findObjects(ids: readonly ObjectId[], schemaVersion: number, context: RequestContext) {
    return this.#read(undefined, context, (node, within) => node.findObjects(ids, schemaVersion, within));
  }

  searchByVector(shard: ShardAddress, search: VectorSearch, context: RequestContext) {
    return this.#read(shard, context, (node, within) => node.searchByVector(shard, search, within));
  }

  listObjects(shard: ShardAddress, listing: ObjectListing, context: RequestContext) {
    return this.#read(shard, context, (node, within) => node.listObjects(shard, listing, within));
  }

  matchingIds(shard: ShardAddress, filter: ShardFilter, idsMax: number, context: RequestContext) {
    return this.#read(shard, context, (node, within) => node.matchingIds(shard, filter, idsMax, within));
  }

  aggregate(shard: ShardAddress, aggregation: ShardAggregation, context: RequestContext) {
    return this.#read(shard, context, (node, within) => node.aggregate(shard, aggregation, within));
  }

  shardStatuses(context: RequestContext) {
    return this.#read(undefined, context, (node, within) => node.shardStatuses(within));
  }

  shardRecalls(context: RequestContext) {
    return this.#read(undefined, context, (node, within) => node.shardRecalls(within));
  }

  #read<T>(
    shard: ShardAddress | undefined,
    context: RequestContext,
    run: (node: ShardService, within: RequestContext) => Promise<T>,
  ): Promise<T> {
    return this.#node.ask({ run, context, shard, isRepeatable: true, bytes: NO_BYTES });
  }
}
