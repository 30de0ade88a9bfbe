import { ShoalError } from "@shoal/model";
import { InnerContext, LateSignal, type RequestContext } from "@shoal/runtime";

/**
 * Asks every target at once and returns the results in the order of the targets. The first failure fails the whole and
 * cancels the rest: there are no partial results. One target is asked directly, without anything to cancel.
 */
export async function scatter<Target, Result>(
  targets: readonly Target[],
  context: RequestContext,
  ask: (target: Target, context: RequestContext) => Promise<Result>,
): Promise<readonly Result[]> {
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

/**
 * Merges lists that are each in ascending order of `compare` and returns the entries `offset` to `offset + limit` of the
 * whole. Equal entries keep the order of the lists.
 */
export function mergeSorted<T>(
  lists: readonly (readonly T[])[],
  compare: (a: T, b: T) => number,
  offset: number,
  limit: number,
): readonly T[] {
  const [only] = lists;
  if (only === undefined) return [];
  if (lists.length === 1) return offset === 0 && only.length <= limit ? only : only.slice(offset, offset + limit);
  // Lists are few, and mostly longer together than the page: what is behind it is never compared.
  const next = lists.map(() => 0);
  const merged: T[] = [];
  for (let place = 0; place < offset + limit; place++) {
    let from = -1;
    let least: T | undefined;
    for (let list = 0; list < lists.length; list++) {
      const head = lists[list]?.[next[list] ?? 0];
      if (head === undefined || (least !== undefined && compare(least, head) <= 0)) continue;
      from = list;
      least = head;
    }
    if (least === undefined) break;
    next[from] = (next[from] ?? 0) + 1;
    if (place >= offset) merged.push(least);
  }
  return merged;
}
