import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { RequestContext } from "@shoal/runtime";
import type { CoordinatorService } from "../coordinator-services.js";
import { deliveryOf } from "../delivery.js";
import type { Position, SnapshotService } from "../snapshot-service.js";
import { SCHEMA } from "../wire/services.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedSnapshot } from "./followed-snapshot.js";

/** So long is a change repeated that a coordinator was lost with; one that restarts is back by then. */
const REPEAT_MS_MAX = 5_000;
const REPEAT_PAUSE_MS = 200;

/** The client of a service of coordinators. `onReachable`: whether one tells of what is watched right now. */
export function coordinatorClient<Service>(
  calls: CoordinatorCalls,
  service: CoordinatorService<Service>,
  onReachable?: (isReachable: boolean) => void,
): Service & Disposable {
  const followed = new FollowedSnapshot(calls, service, onReachable);
  const methods = service.methods.map(({ name, call, isChange, request, result, made = positionIn, mustNotify }) => {
    const ask = async (args: readonly unknown[], context: RequestContext, changeId: string): Promise<unknown> => {
      const response = await calls.ask(service.calls[call] as never, request(args, changeId), context);
      const position = made(response);
      if (position !== undefined) {
        const notified = followed.reach(position, context);
        await (mustNotify === true ? notified : notified.catch(() => undefined));
      }
      return result?.(response, args);
    };
    const method = (...args: readonly unknown[]): Promise<unknown> => {
      const context = args.findLast(isContext) as RequestContext;
      if (isChange !== true) return ask(args, context, "");
      return settled(calls, context, (changeId) => ask(args, context, changeId));
    };
    return [name, method] as const;
  });
  const own: SnapshotService<Position> & Disposable = {
    current: (context) => followed.current(context),
    watch: (listener) => followed.watch(listener),
    [Symbol.dispose]: () => followed[Symbol.dispose](),
  };
  return { ...Object.fromEntries(methods), ...own } as unknown as Service & Disposable;
}

function positionIn(response: { readonly position?: Position | null }): Position | null | undefined {
  return response.position;
}

/** Nothing that a method takes after its context has a deadline; a value before it may have anything. */
function isContext(arg: unknown): arg is RequestContext {
  return typeof arg === "object" && arg !== null && "deadline" in arg;
}

/**
 * Sends a change under one id until there is a response to it: when a coordinator was lost on the way, for a while. Then it is
 * settled, so that the same change by somebody else is another one.
 */
async function settled<Response>(
  calls: CoordinatorCalls,
  context: RequestContext,
  change: (changeId: string) => Promise<Response>,
): Promise<Response> {
  const changeId = randomUUID();
  const giveUpMs = Math.min(context.deadline, calls.nowMs() + REPEAT_MS_MAX);
  for (let lost: unknown; ; ) {
    try {
      const response = await change(changeId);
      // What is not settled is taken for a change that nobody has the response of: no harm is done.
      await calls.ask(SCHEMA.Settle, { changeId }, context).catch(() => undefined);
      return response;
    } catch (thrown) {
      const delivery = deliveryOf(thrown);
      if (delivery === "unknown") lost ??= thrown;
      if (delivery === undefined || lost === undefined) throw thrown;
      if (calls.nowMs() >= giveUpMs) throw lost;
    }
    await sleep(REPEAT_PAUSE_MS);
    context.signal?.throwIfAborted();
  }
}
