import { ShoalError } from "@shoal/model";
import { InnerContext, LateSignal, type RequestContext } from "@shoal/runtime";

/**
 * Asks every target at once and returns the answers in the order of the targets. The first failure fails the whole and
 * cancels the rest: there are no partial results. One target is asked directly, without anything to cancel.
 */
export async function scatter<Target, Answer>(
  targets: readonly Target[],
  context: RequestContext,
  ask: (target: Target, context: RequestContext) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const [only] = targets;
  if (only === undefined) return [];
  if (targets.length === 1) return [await ask(only, context)];
  const rest = new LateSignal(context);
  const inner = new InnerContext(context, { late: rest });
  try {
    return await Promise.all(targets.map((target) => ask(target, inner)));
  } catch (thrown) {
    rest.abort(new ShoalError("internal", "another shard of the same query has failed"));
    throw thrown;
  } finally {
    rest.end();
  }
}
