import { type ObjectId, type ObjectMerge, ShoalError } from "@shoal/model";
import type { ShardAddress } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { ClassificationRun } from "./classification-run.js";

/** What became of an item; `left`: somebody has deleted it, or filled what must be empty, before it was written. */
export interface WrittenItem {
  readonly id: ObjectId;
  readonly outcome: "written" | "left" | ShoalError;
}

const MARKS = { properties: false, vector: false, extras: true } as const;

/** Writes the results of items, one request a shard. */
export async function writeMerges(
  run: ClassificationRun,
  merges: readonly ObjectMerge[],
  context: RequestContext,
): Promise<readonly WrittenItem[]> {
  const { router } = run.parts;
  const groups = new Map<ShardAddress, ObjectMerge[]>();
  for (const merge of merges) {
    const shard = router.shardOf(run.record, merge.id);
    const group = groups.get(shard);
    if (group === undefined) groups.set(shard, [merge]);
    else group.push(merge);
  }
  const written = await Promise.all(Array.from(groups, ([shard, group]) => writeTo(run, shard, group, context)));
  return written.flat();
}

async function writeTo(
  run: ClassificationRun,
  shard: ShardAddress,
  merges: readonly ObjectMerge[],
  context: RequestContext,
): Promise<readonly WrittenItem[]> {
  const node = run.parts.router.node(shard);
  const outcomes = await node.mergeObjects(shard, merges, context);
  const filled = merges.flatMap(({ id }, at) => (hasCode(outcomes[at], "conflict") ? [id] : []));
  // A request that was sent a second time finds what it has written the first time.
  const found = filled.length === 0 ? [] : await node.getObjects(shard, filled, MARKS, context);
  const own = new Set(found.flatMap((object) => (object && run.hasClassified(object) ? [object.id] : [])));
  return merges.map(({ id }, at): WrittenItem => {
    const outcome = outcomes[at] ?? noOutcome(shard);
    if (!(outcome instanceof ShoalError) || own.has(id)) return { id, outcome: "written" };
    return { id, outcome: hasCode(outcome, "conflict") || hasCode(outcome, "notFound") ? "left" : outcome };
  });
}

function hasCode(outcome: unknown, code: ShoalError["code"]): boolean {
  return outcome instanceof ShoalError && outcome.code === code;
}

function noOutcome({ shardName, className }: ShardAddress): ShoalError {
  return new ShoalError("internal", `shard '${shardName}' of class '${className}' gave no outcome of a merge`);
}
