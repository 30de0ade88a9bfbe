import { ShoalError } from "@shoal/model";
import type { AccessChange, AccessService, RequestContext } from "@shoal/rpc";
import type { Principal } from "../auth/access.js";
import { type AccessState, stateOf } from "./access-state.js";
import type { Authority } from "./authority.js";
import type { Permissions } from "./permissions.js";

export interface AccessChangesParts {
  readonly service: AccessService;
  /** Undefined: roles are off, and who may use a route may do what it does. */
  readonly authority: Authority | undefined;
  readonly nowMs: () => number;
}

/** Who changes roles or users, at the state that the change is decided on. */
export interface Actor {
  readonly principal: Principal;
  /** Undefined: roles are off. */
  readonly permissions: Permissions | undefined;
}

/** What is to be changed, and what the client gets. Without changes nothing is written. */
export interface Decision<T> {
  readonly changes: readonly AccessChange[];
  readonly answer: T;
}

/** So often somebody else may be faster: each time one of them got on. */
const ATTEMPTS_MAX = 100;

/**
 * Decides on the state that is current, also about whether the actor may, and makes the change; decides anew when another one came
 * in between. What was revoked anywhere before counts.
 */
export async function changeAccess<T>(
  { service, authority }: AccessChangesParts,
  principal: Principal,
  context: RequestContext,
  decide: (state: AccessState, actor: Actor) => Decision<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const state = stateOf(await service.current(context));
    const permissions = authority?.permissionsOf(principal, state);
    const { changes, answer } = decide(state, { principal, permissions });
    if (changes.length === 0) return answer;
    try {
      await service.change(changes, state.snapshot, context);
    } catch (thrown) {
      if (!(thrown instanceof ShoalError) || thrown.code !== "conflict") throw thrown;
      if (attempt >= ATTEMPTS_MAX) {
        throw new ShoalError("unavailable", "roles and users are being changed all the time; try again", {
          retryAfterSeconds: 1,
        });
      }
      context.signal?.throwIfAborted();
      continue;
    }
    return answer;
  }
}
