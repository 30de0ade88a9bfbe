import type { ShardRouter } from "@shoal/cluster";
import { type ObjectId, type RowFields, ShoalError, type StoredObject } from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";
import { ByteBudget, InnerContext, type RequestContext } from "@shoal/runtime";
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

/** What the rows that come from every shard at once may hold: most of them will not be in the page. */
const TRIAL_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Reads rows from several shards, each as many as the page has: cheapest while they are small. Undefined when they are
 * not; then whoever asks has to find out first which of them belong to the page.
 */
export async function rowsOnTrial<T>(
  context: RequestContext,
  read: (context: RequestContext) => Promise<T>,
): Promise<T | undefined> {
  const rowBytes: ByteBudget = new ByteBudget({
    max: TRIAL_BYTES_MAX,
    parent: context.rowBytes,
    fullError: () => {
      // All that came before is given back: none of it will be used.
      rowBytes.close();
      return new ShoalError("tooLarge", "the rows of all shards together are too large to try");
    },
  });
  try {
    return await read(new InnerContext(context, { rowBytes }));
  } catch (thrown) {
    if (rowBytes.isClosed) return undefined;
    throw thrown;
  }
}
