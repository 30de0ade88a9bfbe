import { type Role, ShoalError } from "@shoal/model";
import type { AccessChange, AccessService } from "@shoal/rpc";
import { Gate, type RequestContext } from "@shoal/runtime";
import type { Principal } from "../auth/access.js";
import { type AccessState, stateOf } from "./access-state.js";
import type { Authority } from "./authority.js";
import type { Permissions } from "./permissions.js";
import { RightsInSteps } from "./rights-in-steps.js";

export interface AccessChangesParts {
  readonly service: AccessService;
  /** Undefined: roles are off, and who may use a route may do what it does. */
  readonly authority: Authority | undefined;
  readonly nowMs: () => number;
  /** The line in which this process changes roles and users. */
  readonly line: ChangeLine;
  /** Something random for each role. */
  readonly newId: () => string;
  /** A key with 256 random bits. */
  readonly newKey: () => string;
  /** SHA-256 of a key, base64. */
  readonly digestOf: (key: string) => string;
  /** Whether a user of that name has an API key by the settings of this process. */
  readonly isStaticUser: (name: string) => boolean;
}

/** Who changes roles or users, at the state that the change is decided on. */
export interface Actor {
  readonly principal: Principal;
  /** Undefined: roles are off. */
  readonly permissions: Permissions | undefined;
  /** Their rights. A decision made in steps is carried out only when the state is still the same then. */
  readonly rights: RightsInSteps | undefined;
}

/** What is to be changed, and what the client gets. Without changes nothing is written. */
export interface Decision<T> {
  readonly changes: readonly AccessChange[];
  readonly result: T;
}

/** So often somebody else may be faster: each time one of them got on. */
const ATTEMPTS_MAX = 100;

/** Changes that may wait for their turn; more would wait for longer than their time. */
const WAITING_MAX = 1_000;
/** Timers may be early. */
const MARGIN_MS = 100;

/**
 * The line in which one process changes roles and users, in equal parts by share: each change replaces the whole state that it was
 * decided on, so that of many at once one gets on and all others decide again. Only those of other processes come in between.
 */
export class ChangeLine {
  readonly #gate = new Gate({ max: 1, waitingMax: WAITING_MAX, fullError: tooManyWait });
  #asked = 0;
  /** That no coordinator could be reached, for the changes that were in the line at that time. */
  #failure: { readonly upTo: number; readonly error: ShoalError } | undefined;

  constructor(private readonly nowMs: () => number) {}

  /** `readState` is asked within the turn; see {@link changeAccess} for what `work` may do. */
  run<T>(context: RequestContext, work: (read: ReadState) => Promise<T>, readState: ReadState): Promise<T> {
    const place = ++this.#asked;
    const { share, signal } = context;
    return this.#gate.run(1, { share, signal }, () =>
      work(async () => {
        // Who waited while nobody could be reached does not wait for it once more.
        if (this.#failure !== undefined && place <= this.#failure.upTo) throw this.#failure.error;
        try {
          return await readState();
        } catch (thrown) {
          const error = ShoalError.from(thrown);
          // Whose own time ran out says nothing of the coordinators.
          const hadTime = this.nowMs() + MARGIN_MS < context.deadline;
          if (error.code === "unavailable" && hadTime) this.#failure = { upTo: this.#asked, error };
          throw error;
        }
      }),
    );
  }
}

type ReadState = () => Promise<AccessState>;

function tooManyWait(): ShoalError {
  return new ShoalError("overloaded", `more than ${WAITING_MAX} changes of roles and users wait for their turn`, {
    retryAfterSeconds: 5,
  });
}

/**
 * Decides on the state that is current, also about whether the actor may, and makes the change; decides again when another one came
 * in between. What was revoked anywhere before counts.
 */
export function changeAccess<T>(
  { service, authority, line }: AccessChangesParts,
  principal: Principal,
  context: RequestContext,
  decide: (state: AccessState, actor: Actor) => Decision<T> | Promise<Decision<T>>,
): Promise<T> {
  const change = async (read: ReadState): Promise<T> => {
    let roles: readonly Role[] = [];
    let rights: RightsInSteps | undefined;
    for (let attempt = 1; ; attempt++) {
      const state = await read();
      const permissions = authority?.permissionsOf(principal, state);
      // While the actor has the same roles, what was decided about them holds: the next attempt is short, and gets on.
      if (permissions !== undefined && (rights === undefined || !hasSame(roles, permissions.roles))) {
        rights = new RightsInSteps(permissions.rights, context);
        roles = permissions.roles;
      }
      const { changes, result } = await decide(state, { principal, permissions, rights });
      if (changes.length === 0 || (await isMade(service, changes, state, context))) return result;
      if (attempt >= ATTEMPTS_MAX) {
        throw new ShoalError("unavailable", "roles and users are being changed all the time; try again", {
          retryAfterSeconds: 1,
        });
      }
      context.signal?.throwIfAborted();
    }
  };
  return line.run(context, change, async () => stateOf(await service.current(context)));
}

/** Roles that did not change are the same objects at every state. */
function hasSame(before: readonly Role[], roles: readonly Role[]): boolean {
  return before.length === roles.length && roles.every((role, at) => role === before[at]);
}

/** False when another change came in between. */
async function isMade(
  service: AccessService,
  changes: readonly AccessChange[],
  { snapshot }: AccessState,
  context: RequestContext,
): Promise<boolean> {
  try {
    await service.change(changes, snapshot, context);
    return true;
  } catch (thrown) {
    if (thrown instanceof ShoalError && thrown.code === "conflict") return false;
    throw thrown;
  }
}

/** Part of what all managers share, roles and users for instance, that is not for one who manages some of them only. */
const RESERVE = 1 / 10;

/** How much of `max` there may be after a manager has added to it: one with few rights must not be able to keep all others from it. */
export function mostFor(max: number, managesAll: boolean): number {
  return managesAll ? max : max * (1 - RESERVE);
}
