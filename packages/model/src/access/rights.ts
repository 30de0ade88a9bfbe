import type { Action, Permission } from "./permission.js";
import { PermissionIndex } from "./permission-index.js";
import type { Role } from "./role.js";

/** What several roles allow together. Never changed: with other roles it is another one. */
export class Rights {
  readonly #byAction: ReadonlyMap<Action, readonly Permission[]>;
  /** Made when they are first asked. */
  readonly #indexes = new Map<Action, PermissionIndex>();

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
    return this.#byAction.has(action) && this.index(action).allows(names);
  }

  /** Whether the action is allowed on anything at all. */
  allowsAny(action: Action): boolean {
    return this.#byAction.has(action);
  }

  /** Whether a single one of the permissions allows all that `permission` does. */
  covers(permission: Permission): boolean {
    return this.allows(permission.action, permission.values);
  }

  /** The permissions of an action. */
  of(action: Action): readonly Permission[] {
    return this.#byAction.get(action) ?? NONE;
  }

  /** The permissions of an action, to be compared one at a time. */
  index(action: Action): PermissionIndex {
    let index = this.#indexes.get(action);
    if (index === undefined) {
      index = new PermissionIndex(action, this.of(action));
      this.#indexes.set(action, index);
    }
    return index;
  }
}

const NONE: readonly Permission[] = [];
