import type { Action, Permission } from "./permission.js";
import type { Role } from "./role.js";

/** What several roles allow together. Never changed: with other roles it is another one. */
export class Rights {
  readonly #byAction: ReadonlyMap<Action, readonly Permission[]>;

  constructor(roles: Iterable<Role>) {
    const byAction = new Map<Action, Permission[]>();
    for (const { permissions } of roles) {
      for (const permission of permissions) {
        const known = byAction.get(permission.action);
        if (known === undefined) byAction.set(permission.action, [permission]);
        else known.push(permission);
      }
    }
    this.#byAction = byAction;
  }

  /** Whether the action is allowed on the resource of these names, in the order of `RESOURCES`. */
  allows(action: Action, names: readonly string[]): boolean {
    for (const permission of this.of(action)) if (permission.allows(names)) return true;
    return false;
  }

  /** Whether the action is allowed on anything at all. */
  allowsAny(action: Action): boolean {
    return this.#byAction.has(action);
  }

  /** Whether a single one of the permissions allows all that `permission` does. */
  covers(permission: Permission): boolean {
    for (const own of this.of(permission.action)) if (own.covers(permission)) return true;
    return false;
  }

  /** The permissions of an action. */
  of(action: Action): readonly Permission[] {
    return this.#byAction.get(action) ?? NONE;
  }
}

const NONE: readonly Permission[] = [];
