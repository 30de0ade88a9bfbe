import { type ObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord, RequestContext, ShardAddress, ShardService } from "@shoal/rpc";
import type { ShardRouter } from "./shard-router.js";

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

/**
 * Asks for `id` in `records`, one request a node; when that fails, each shard of the node by itself, as a node answers
 * for all of them or none. Never fails: what is not known is told.
 */
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
    const answers = await ask(node, questions, context);
    if (!(answers instanceof ShoalError)) return answers;
    if (questions.length === 1 || isOver(answers, context)) {
      failures.push(answers);
      return [];
    }
    const alone = await Promise.all(questions.map((question) => ask(node, [question], context)));
    return alone.flatMap((answer) => {
      if (!(answer instanceof ShoalError)) return answer;
      failures.push(answer);
      return [];
    });
  });
  const holding = (await Promise.all(asked)).flat().sort(byName);
  return { holding, failure: failures[0] };
}

/**
 * The first class by name that has the id, among `records`. When none of those that could be asked has it and some could
 * not, fails with their error.
 */
export async function findFirstHolder(
  router: ShardRouter,
  records: readonly ClassRecord[],
  id: ObjectId,
  context: RequestContext,
): Promise<ClassRecord | undefined> {
  const { holding, failure } = await findHolders(router, records, id, context);
  if (holding[0] === undefined && failure !== undefined) throw failure;
  return holding[0];
}

/** The classes of the questions that the node answers with yes, or why it does not answer. */
async function ask(
  node: ShardService,
  questions: readonly Question[],
  context: RequestContext,
): Promise<readonly ClassRecord[] | ShoalError> {
  try {
    const found = await node.hasObjects(questions, context);
    return questions.filter((_, index) => found[index] === true).map(({ record }) => record);
  } catch (thrown) {
    return ShoalError.from(thrown);
  }
}

/** Whether the whole request has come to its end, so that asking again is in vain. */
function isOver({ code }: ShoalError, { signal }: RequestContext): boolean {
  return code === "deadlineExceeded" || signal?.aborted === true;
}

function byName(a: ClassRecord, b: ClassRecord): number {
  return a.definition.class < b.definition.class ? -1 : 1;
}
