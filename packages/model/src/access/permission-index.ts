import { ACTIONS, type Action, everywhere, type Permission, RESOURCES } from "./permission.js";

/**
 * The permissions of one action, found by how names begin: one whose pattern begins otherwise, up to its first `*`, cannot allow a
 * name. Thousands are as cheap as a few unless they begin with `*`.
 */
export class PermissionIndex {
  /** As they are written. */
  readonly #own = new Set<string>();
  readonly #byStart = new Map<string, Permission[]>();
  readonly #startLengths: readonly number[];
  readonly #place: number;

  constructor(action: Action, permissions: readonly Permission[]) {
    this.#place = namePlaceOf(action);
    const all = everywhere(action);
    const whole = permissions.find((permission) => permission.covers(all));
    for (const permission of permissions) {
      const written = writtenOf(permission);
      if (this.#own.has(written)) continue;
      this.#own.add(written);
      if (whole === undefined || permission === whole) this.#add(permission);
    }
    this.#startLengths = [...new Set([...this.#byStart.keys()].map(({ length }) => length))].sort((a, b) => a - b);
  }

  #add(permission: Permission): void {
    const [start = ""] = (permission.values[this.#place] ?? "").split("*", 1);
    const alike = this.#byStart.get(start);
    if (alike === undefined) this.#byStart.set(start, [permission]);
    else alike.push(permission);
  }

  /** Whether one of them is written as `permission` is. */
  has(permission: Permission): boolean {
    return this.#own.has(writtenOf(permission));
  }

  /** Those that may allow a resource of these names, in lists; none of the others does. */
  candidates(names: readonly string[]): readonly (readonly Permission[])[] {
    const name = names[this.#place] ?? "";
    const lists: (readonly Permission[])[] = [];
    for (const length of this.#startLengths) {
      if (length > name.length) break;
      const list = this.#byStart.get(name.slice(0, length));
      if (list !== undefined) lists.push(list);
    }
    return lists;
  }

  /** Whether one of them allows the resource of these names. */
  allows(names: readonly string[]): boolean {
    for (const list of this.candidates(names)) {
      for (const permission of list) if (permission.allows(names)) return true;
    }
    return false;
  }
}

/** Two of one action are written alike only when their values are: no value has a control character. */
export function writtenOf({ values }: Permission): string {
  return values.join("\n");
}

/** The first of an action's values that is a name; behind them all where none is. */
function namePlaceOf(action: Action): number {
  const members = RESOURCES[ACTIONS[action]];
  const place = members.findIndex(({ words }) => words === undefined);
  return place === -1 ? members.length : place;
}
