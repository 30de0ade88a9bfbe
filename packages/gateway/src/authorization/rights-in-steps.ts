import { type Action, type Permission, type Rights, writtenOf } from "@shoal/model";
import { type WorkBounds, Yielder } from "@shoal/runtime";

/** One takes 3 µs at most, with names and patterns as long as they may be. */
const STEP_COMPARISONS = 1_000;

/**
 * Rights that are looked at many times for one result: thousands of permissions against thousands, or against as many names. What
 * need not be compared is not, and the rest yields to the event loop. Decides as `Rights` does, on the same roles whatever is
 * changed between the steps; whoever changes something by it must look whether the state is still the one it was made from.
 */
export class RightsInSteps {
  readonly #yielder: Yielder;
  /** Whether permissions that are not one's own are covered, by action and by how they are written. */
  readonly #decided = new Map<Action, Map<string, boolean>>();
  #comparisons = 0;

  constructor(
    private readonly rights: Rights,
    bounds: WorkBounds,
  ) {
    this.#yielder = new Yielder(STEP_COMPARISONS, bounds);
  }

  /** Of a permission with names or with another one, until now. */
  get comparisons(): number {
    return this.#comparisons;
  }

  /** As `Rights.allows`. */
  async allows(action: Action, names: readonly string[]): Promise<boolean> {
    // Many names may have no candidate.
    if (this.#isStepOver()) await this.#yielder.next();
    for (const candidates of this.rights.index(action).candidates(names)) {
      for (const own of candidates) {
        this.#comparisons++;
        if (own.allows(names)) return true;
        if (this.#isStepOver()) await this.#yielder.next();
      }
    }
    return false;
  }

  /** Whether each is covered, see `Rights.covers`. */
  async coversAll(permissions: Iterable<Permission>): Promise<boolean> {
    for (const permission of permissions) if (!(await this.covers(permission))) return false;
    return true;
  }

  /** As `Rights.covers`. */
  async covers(permission: Permission): Promise<boolean> {
    const { action, values } = permission;
    if (this.#isStepOver()) await this.#yielder.next();
    if (this.rights.index(action).has(permission)) return true;
    let decided = this.#decided.get(action);
    if (decided === undefined) {
      decided = new Map();
      this.#decided.set(action, decided);
    }
    const written = writtenOf(permission);
    let isCovered = decided.get(written);
    if (isCovered === undefined) {
      isCovered = await this.allows(action, values);
      decided.set(written, isCovered);
    }
    return isCovered;
  }

  /** Looked at before, or behind, whatever takes about as long as a comparison. */
  #isStepOver(): boolean {
    this.#yielder.count(1);
    return this.#yielder.isDue;
  }
}
