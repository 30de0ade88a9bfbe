import { setMaxListeners } from "node:events";
import { ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/rpc";

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
  const cancel = new AbortController();
  const signal = context.signal === undefined ? cancel.signal : AbortSignal.any([context.signal, cancel.signal]);
  // Every shard may listen, however many there are.
  setMaxListeners(0, signal);
  try {
    return await Promise.all(
      targets.map((target) => ask(target, { ...context, requestId: context.requestId, signal })),
    );
  } catch (thrown) {
    cancel.abort(new ShoalError("internal", "another shard of the same query has failed"));
    throw thrown;
  }
}
