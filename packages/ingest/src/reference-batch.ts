import type { ShardRouter } from "@shoal/cluster";
import type { JsonObject, ObjectId, ObjectMerge } from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";
import type { ReferenceInput } from "./ingest-service.js";

/** A reference of a batch that passed all checks. */
export interface ReferenceItem {
  /** Its place in the batch. */
  readonly index: number;
  readonly written: ReferenceInput;
  readonly record: ClassRecord;
  readonly id: ObjectId;
  readonly property: string;
  /** In its stored form. */
  readonly reference: JsonObject;
}

/** What a batch adds to one object. */
export interface ObjectReferences {
  readonly id: ObjectId;
  readonly items: ReferenceItem[];
}

/** What a batch adds to the objects of one shard. */
export interface ShardReferences {
  readonly shard: ShardAddress;
  readonly objects: readonly ObjectReferences[];
}

/** The references by shard and object, each object's in the order of the batch. */
export function groupReferences(router: ShardRouter, items: readonly ReferenceItem[]): readonly ShardReferences[] {
  const shards = new Map<string, { shard: ShardAddress; objects: Map<ObjectId, ObjectReferences> }>();
  for (const item of items) {
    const shard = router.shardOf(item.record, item.id);
    const key = `${shard.classId}/${shard.shardName}`;
    const group = shards.get(key) ?? { shard, objects: new Map<ObjectId, ObjectReferences>() };
    shards.set(key, group);
    const object = group.objects.get(item.id);
    if (object === undefined) group.objects.set(item.id, { id: item.id, items: [item] });
    else object.items.push(item);
  }
  return [...shards.values()].map(({ shard, objects }) => ({ shard, objects: [...objects.values()] }));
}

/** One change of an object for all of its references. */
export function mergeOf({ id, items }: ObjectReferences): ObjectMerge {
  const lists = new Map<string, JsonObject[]>();
  for (const { property, reference } of items) {
    const list = lists.get(property);
    if (list === undefined) lists.set(property, [reference]);
    else list.push(reference);
  }
  return { id, set: {}, clear: [], append: Object.fromEntries(lists), remove: {}, vector: undefined };
}
