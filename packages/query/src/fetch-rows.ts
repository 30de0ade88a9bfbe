import type { ShardRouter } from "@shoal/cluster";
import type { ObjectId, RowFields, StoredObject } from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { scatter } from "./scatter.js";

/** An object whose class is known. */
export interface PlacedObject {
  readonly id: ObjectId;
  readonly record: ClassRecord;
}

/** The rows of objects, one request a shard; undefined for one that has been deleted. In the order of the objects. */
export async function fetchRows(
  router: ShardRouter,
  objects: readonly PlacedObject[],
  fields: RowFields,
  context: RequestContext,
): Promise<readonly (StoredObject | undefined)[]> {
  const places = new Map<
    ShardAddress,
    { readonly shard: ShardAddress; readonly at: number[]; readonly ids: ObjectId[] }
  >();
  for (const [at, { id, record }] of objects.entries()) {
    const shard = router.shardOf(record, id);
    const place = places.get(shard);
    if (place === undefined) places.set(shard, { shard, at: [at], ids: [id] });
    else {
      place.at.push(at);
      place.ids.push(id);
    }
  }
  const rows = new Array<StoredObject | undefined>(objects.length);
  await scatter([...places.values()], context, async ({ shard, at, ids }, inner) => {
    const read = await router.node(shard).getObjects(shard, ids, fields, inner);
    for (const [i, index] of at.entries()) rows[index] = read[i];
  });
  return rows;
}
