import type { ObjectId } from "@shoal/model";
import type { ClassRecord, RequestContext } from "@shoal/rpc";
import type { ShardRouter } from "./shard-router.js";

const NO_FIELDS = { properties: false, vector: false, extras: false } as const;

interface Twin {
  readonly at: number;
  readonly id: ObjectId;
  readonly record: ClassRecord;
}

/**
 * Holders with the class first that has had the id longest, by the creation times of the objects, then by name: where roles hide
 * classes, whoever may write into one could otherwise put an object of his before one that he cannot see. Of a class whose
 * object cannot be read nobody knows better, so it comes first. Reads twins only, one request a shard.
 */
export async function inOrderOfCreation<Holders extends { readonly holding: readonly ClassRecord[] }>(
  router: ShardRouter,
  ids: readonly ObjectId[],
  found: readonly Holders[],
  context: RequestContext,
): Promise<readonly Holders[]> {
  const groups = new Map<string, Twin[]>();
  for (const [at, { holding }] of found.entries()) {
    const id = ids[at];
    if (id === undefined || holding.length < 2) continue;
    for (const record of holding) {
      const key = `${record.classId}/${router.shardOf(record, id).shardName}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [{ at, id, record }]);
      else group.push({ at, id, record });
    }
  }
  if (groups.size === 0) return found;
  const created = new Map<string, number>();
  await Promise.all(
    Array.from(groups.values(), async (twins) => {
      const [first] = twins;
      if (first === undefined) return;
      const shard = router.shardOf(first.record, first.id);
      const asked = twins.map(({ id }) => id);
      const objects = await Promise.resolve()
        .then(() => router.node(shard).getObjects(shard, asked, NO_FIELDS, context))
        .catch(() => []);
      for (const [at, object] of objects.entries()) {
        const twin = twins[at];
        if (twin !== undefined && object !== undefined) created.set(keyOf(twin), object.creationTimeUnix);
      }
    }),
  );
  return found.map((holders, at) => {
    const id = ids[at];
    if (id === undefined || holders.holding.length < 2) return holders;
    const time = (record: ClassRecord) => created.get(keyOf({ id, record })) ?? 0;
    // What is sorted keeps its order, by name, where times are equal.
    return { ...holders, holding: [...holders.holding].sort((a, b) => time(a) - time(b)) };
  });
}

function keyOf({ id, record }: Pick<Twin, "id" | "record">): string {
  return `${record.classId}/${id}`;
}
