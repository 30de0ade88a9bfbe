import { ACTIONS, type Action, everywhere, type Permission, RESOURCES, type Rights } from "@shoal/model";
import { type WorkBounds, WorkTurns } from "@shoal/runtime";

/** One takes 3 µs at most, with names and patterns as long as they may be. */
const TURN_COMPARISONS = 1_000;

/** Permissions of one action. */
interface Arranged {
  /** Whether permissions are covered, by how they are written: one's own are, others once that is decided. */
  readonly decided: Map<string, boolean>;
  /** By what their name begins with, up to its first `*`: others cannot allow a name that begins otherwise. */
  readonly byStart: ReadonlyMap<string, readonly Permission[]>;
  readonly startLengths: readonly number[];
}

/**
 * Rights that are looked at many times for one answer: thousands of permissions against thousands, or against as many names. What
 * need not be compared is not, and the rest takes turns of the event loop. Decides as `Rights` does, on the same roles whatever is
 * changed between the turns; whoever changes something by it must look whether the state is still the one it was made from.
 */
export class RightsInTurns {
  readonly #rights: Rights;
  readonly #turns: WorkTurns;
  readonly #arranged = new Map<Action, Arranged>();
  #comparisons = 0;

  constructor(rights: Rights, bounds: WorkBounds) {
    this.#rights = rights;
    this.#turns = new WorkTurns(TURN_COMPARISONS, bounds);
  }

  /** Of a permission with names or with another one, until now. */
  get comparisons(): number {
    return this.#comparisons;
  }

  /** As `Rights.allows`. */
  async allows(action: Action, names: readonly string[]): Promise<boolean> {
    return this.#isAllowed(await this.#arrangedOf(action), action, names);
  }

  /** Whether each is covered, see `Rights.covers`. */
  async coversAll(permissions: Iterable<Permission>): Promise<boolean> {
    for (const permission of permissions) if (!(await this.covers(permission))) return false;
    return true;
  }

  /** As `Rights.covers`. */
  async covers(permission: Permission): Promise<boolean> {
    const { action, values } = permission;
    const arranged = await this.#arrangedOf(action);
    const written = writtenOf(permission);
    if (this.#isTurnOver()) await this.#turns.next();
    let isCovered = arranged.decided.get(written);
    if (isCovered === undefined) {
      isCovered = await this.#isAllowed(arranged, action, values);
      arranged.decided.set(written, isCovered);
    }
    return isCovered;
  }

  async #isAllowed({ byStart, startLengths }: Arranged, action: Action, names: readonly string[]): Promise<boolean> {
    const name = names[namePlaceOf(action)] ?? "";
    for (const length of startLengths) {
      if (length > name.length) break;
      if (this.#isTurnOver()) await this.#turns.next();
      for (const own of byStart.get(name.slice(0, length)) ?? []) {
        this.#comparisons++;
        if (own.allows(names)) return true;
        if (this.#isTurnOver()) await this.#turns.next();
      }
    }
    return false;
  }

  async #arrangedOf(action: Action): Promise<Arranged> {
    const known = this.#arranged.get(action);
    if (known !== undefined) return known;
    const own = this.#rights.of(action);
    const all = everywhere(action);
    const whole = own.find((permission) => permission.covers(all));
    const place = namePlaceOf(action);
    const decided = new Map<string, boolean>();
    const byStart = new Map<string, Permission[]>();
    for (const permission of whole === undefined ? own : [whole]) {
      if (this.#isTurnOver()) await this.#turns.next();
      const written = writtenOf(permission);
      if (decided.has(written)) continue;
      decided.set(written, true);
      const [start = ""] = (permission.values[place] ?? "").split("*", 1);
      const alike = byStart.get(start);
      if (alike === undefined) byStart.set(start, [permission]);
      else alike.push(permission);
    }
    const startLengths = [...new Set([...byStart.keys()].map(({ length }) => length))].sort((a, b) => a - b);
    const arranged = { decided, byStart, startLengths };
    this.#arranged.set(action, arranged);
    return arranged;
  }

  /** Looked at before, or behind, whatever takes about as long as a comparison. */
  #isTurnOver(): boolean {
    this.#turns.count(1);
    return this.#turns.isOver;
  }
}

/** Two of one action are written alike only when their values are: no value has a control character. */
function writtenOf({ values }: Permission): string {
  return values.join("\n");
}

/** The first of an action's values that is a name; behind them all where none is. */
function namePlaceOf(action: Action): number {
  const members = RESOURCES[ACTIONS[action]];
  const place = members.findIndex(({ words }) => words === undefined);
  return place === -1 ? members.length : place;
}
