import type { ShardRouter } from "@shoal/cluster";
import {
  type JsonObject,
  type ObjectId,
  type ObjectListing,
  type ObjectMerge,
  type Properties,
  type PutTimes,
  ShoalError,
  type StoredObject,
} from "@shoal/model";
import type { ClassRecord, ShardAddress, ShardService } from "@shoal/rpc";

export interface MemoryItem {
  properties: Properties;
  extras: JsonObject | undefined;
}

/** Objects of one class in two shards, by id; a filter stands for those without the property `label`. */
export class MemoryItems implements ShardRouter {
  readonly items = new Map<ObjectId, MemoryItem>();
  /** Called before a shard does what it is asked for; may fail in its place. */
  before: (method: "list" | "merge" | "get") => void = () => {};
  /** Called when merges are done, before they are answered; true: the same merges come a second time. */
  repeats: () => boolean = () => false;
  /** How often each object was merged. */
  readonly merged = new Map<ObjectId, number>();
  /** Most objects that one request asked for, or brought. */
  largest = 0;
  readonly #shards: readonly ShardAddress[];

  constructor({ classId, definition }: ClassRecord) {
    this.#shards = ["a", "b"].map((shardName) => ({ classId, className: definition.class, shardName }));
  }

  shardsOf(): readonly ShardAddress[] {
    return this.#shards;
  }

  shardOf(_: ClassRecord, id: ObjectId): ShardAddress {
    const shard = this.#shards[Number.parseInt(id.slice(0, 8), 16) % this.#shards.length];
    if (shard === undefined) throw new Error("no shard");
    return shard;
  }

  isOpen(id: ObjectId): boolean {
    return isEmpty(this.items.get(id)?.properties.label);
  }

  node(): ShardService {
    const unused = (): Promise<never> => Promise.reject(new Error("no test needs this"));
    return {
      listObjects: async (shard, listing) => this.#list(shard, listing),
      getObjects: async (_, ids) => {
        this.before("get");
        return ids.map((id) => this.#stored(id));
      },
      mergeObjects: async (_, merges) => {
        this.before("merge");
        this.largest = Math.max(this.largest, merges.length);
        const outcomes = merges.map((merge) => this.#merge(merge));
        return this.repeats() ? merges.map((merge) => this.#merge(merge)) : outcomes;
      },
      mergeObject: unused,
      putObjects: unused,
      deleteObject: unused,
      findObjects: unused,
      searchByVector: unused,
      matchingIds: unused,
      aggregate: unused,
      shardStatuses: unused,
      shardRecalls: unused,
    };
  }

  #list({ shardName }: ShardAddress, { after, limit, filter }: ObjectListing): readonly StoredObject[] {
    this.before("list");
    this.largest = Math.max(this.largest, limit);
    const here = (id: ObjectId) => this.shardOf(undefined as never, id).shardName === shardName;
    const listed = [...this.items.keys()].filter(
      (id) => (after === undefined || id > after) && here(id) && (filter === undefined || this.isOpen(id)),
    );
    return listed
      .sort()
      .slice(0, limit)
      .flatMap((id) => this.#stored(id) ?? []);
  }

  #stored(id: ObjectId): StoredObject | undefined {
    const item = this.items.get(id);
    if (item === undefined) return undefined;
    const propertiesJson = new TextEncoder().encode(JSON.stringify(item.properties));
    const times = { creationTimeUnix: 1, lastUpdateTimeUnix: 1 };
    return { id, className: "Item", ...times, propertiesJson, vector: Float32Array.of(1), extras: item.extras };
  }

  #merge({ id, set, additional, ifEmpty = [] }: ObjectMerge): PutTimes | ShoalError {
    const item = this.items.get(id);
    if (item === undefined) return new ShoalError("notFound", `no object with id '${id}'`);
    if (ifEmpty.some((name) => !isEmpty(item.properties[name]))) return new ShoalError("conflict", "not empty");
    item.properties = { ...item.properties, ...set };
    item.extras = { additional: { ...(item.extras?.additional as JsonObject), ...additional } };
    this.merged.set(id, 1 + (this.merged.get(id) ?? 0));
    return { creationTimeUnix: 1, lastUpdateTimeUnix: 2 };
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}
