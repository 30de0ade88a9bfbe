import { type ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { Holders } from "./holders.js";
import type { ShardRouter } from "./shard-router.js";

const NO_FIELDS = { properties: false, vector: false, extras: false } as const;

interface Twin {
  readonly at: number;
  readonly id: ObjectId;
  readonly record: ClassRecord;
}

/**
 * Holders with the class first that has had the id longest, by the creation times of the objects, which are from the clocks of
 * their nodes, then by name (docs/decisions/0078 says what that leaves open): where roles hide
 * classes, whoever may write into one could otherwise put an object of his before one that he cannot see. Where an object
 * cannot be read, `orderFault` says why nobody knows the order; one that is gone meanwhile is left out. Reads twins only, one
 * request a shard. Never fails.
 */
export async function inOrderOfCreation(
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
  /** Creation times, and why there is none; nothing of an object that is gone. */
  const created = new Map<string, number | ShoalError>();
  await Promise.all(
    Array.from(groups.values(), async (twins) => {
      const [first] = twins;
      if (first === undefined) return;
      const shard = router.shardOf(first.record, first.id);
      const asked = twins.map(({ id }) => id);
      const objects = await Promise.resolve()
        .then(() => router.node(shard).getObjects(shard, asked, NO_FIELDS, context))
        .catch(ShoalError.from);
      for (const [at, twin] of twins.entries()) {
        const time = objects instanceof ShoalError ? objects : objects[at]?.creationTimeUnix;
        if (time !== undefined) created.set(keyOf(twin), time);
      }
    }),
  );
  return found.map((holders, at) => {
    const id = ids[at];
    if (id === undefined || holders.holding.length < 2) return holders;
    const there = holders.holding.flatMap((record) => {
      const time = created.get(keyOf({ id, record }));
      return time === undefined ? [] : [{ record, time }];
    });
    const orderFault = there.map(({ time }) => time).find((time) => time instanceof ShoalError);
    // What is sorted keeps its order, by name, where times are equal.
    if (orderFault === undefined) there.sort((a, b) => Number(a.time) - Number(b.time));
    return { ...holders, holding: there.map(({ record }) => record), orderFault };
  });
}

function keyOf({ id, record }: Pick<Twin, "id" | "record">): string {
  return `${record.classId}/${id}`;
}
