import type { SchemaView, ShardRouter } from "@shoal/cluster";
import { type ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord, RequestContext, SchemaSnapshot, ShardAddress, ShardService } from "@shoal/rpc";

/** Which of some classes have an id. A class whose shard could not be asked is in neither list. */
export interface Holders {
  /** By name. */
  readonly holding: readonly ClassRecord[];
  /** Why some could not be asked: the first reason. */
  readonly failure: ShoalError | undefined;
}

interface Question {
  readonly record: ClassRecord;
  readonly shard: ShardAddress;
  readonly id: ObjectId;
}

/** Asks for `id` in `records`, one request a node. Never fails: what is not known is told. */
export async function findHolders(
  router: ShardRouter,
  records: readonly ClassRecord[],
  id: ObjectId,
  context: RequestContext,
): Promise<Holders> {
  const failures: ShoalError[] = [];
  const byNode = new Map<ShardService, Question[]>();
  for (const record of records) {
    const shard = router.shardOf(record, id);
    try {
      const node = router.node(shard);
      const questions = byNode.get(node);
      if (questions === undefined) byNode.set(node, [{ record, shard, id }]);
      else questions.push({ record, shard, id });
    } catch (thrown) {
      failures.push(ShoalError.from(thrown));
    }
  }
  const asked = [...byNode].map(async ([node, questions]) => {
    try {
      const found = await node.hasObjects(questions, context);
      return questions.filter((_, index) => found[index] === true).map(({ record }) => record);
    } catch (thrown) {
      failures.push(ShoalError.from(thrown));
      return [];
    }
  });
  const holding = (await Promise.all(asked)).flat().sort(byName);
  return { holding, failure: failures[0] };
}

/**
 * The first class by name that has the id, among all of the schema. When none of those that could be asked has it and
 * some could not, fails with their error.
 */
export async function findFirstClass(
  schema: SchemaView,
  router: ShardRouter,
  id: ObjectId,
  context: RequestContext,
): Promise<ClassRecord | undefined> {
  const { holding, failure } = await findHolders(router, schema.snapshot.classes, id, context);
  if (holding[0] === undefined && failure !== undefined) throw failure;
  return holding[0];
}

/** The only class of a schema that has no other. */
export function onlyClass(schema: SchemaSnapshot): ClassRecord | undefined {
  return schema.classes.length === 1 ? schema.classes[0] : undefined;
}

function byName(a: ClassRecord, b: ClassRecord): number {
  return a.definition.class < b.definition.class ? -1 : 1;
}
