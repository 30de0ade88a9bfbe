import {
  ACTIONS,
  type Action,
  type ClassAction,
  type ClassRights,
  type DataAction,
  everywhere,
  NAME_CHARS_MAX,
  normaliseClassName,
  RESOURCES,
  Rights,
  type RightsHolder,
  type Role,
  ShoalError,
} from "@shoal/model";
import { type Principal, userWithGroups } from "../auth/access.js";

/** So many classes are remembered of one user; names may be anything that a client sends. */
const CLASSES_MAX = 2_000;
/** What it takes to remember a class beside its name, in characters. */
const CLASS_CHARS = 64;

/** What is remembered of classes by all users of one version of the roles. */
export interface RememberedClasses {
  chars: number;
}

/** A bit for each. */
const DATA: { readonly [Action in DataAction]: number } = {
  create_data: 1,
  read_data: 2,
  update_data: 4,
  delete_data: 8,
};

/**
 * What one user may do by the roles that he has at one version of them. Kept as long as that is the version: what is found out
 * about a class is found out once.
 */
export class Permissions implements ClassRights {
  readonly holder: RightsHolder;
  readonly rights: Rights;
  /** What may be done to the objects of a class, in bits. */
  readonly #classes = new Map<string, number>();
  #everyClass: number | undefined;

  /** `sinceMs`: of a user that was made at run time, see {@link RightsHolder}. */
  constructor(
    readonly principal: Principal,
    readonly roles: readonly Role[],
    /** Whether he has `root`, which is given by settings only. */
    readonly isRoot: boolean,
    sinceMs?: number,
    private readonly remembered: RememberedClasses = { chars: 0 },
  ) {
    this.holder = { ...principal, sinceMs };
    this.rights = new Rights(roles);
  }

  mayKnow(className: string): boolean {
    return this.#dataActions(className) !== 0;
  }

  mayRead(className: string): boolean {
    return (this.#dataActions(className) & DATA.read_data) !== 0;
  }

  may(action: ClassAction, className: string): boolean {
    if (isDataAction(action)) return (this.#dataActions(className) & DATA[action]) !== 0;
    if (className.length > NAME_CHARS_MAX) return this.mayEverywhere(action);
    return this.rights.allows(action, [normaliseClassName(className)]);
  }

  maySeeShards(className: string): boolean {
    return this.rights.allows("read_nodes", ["verbose", className]);
  }

  require(action: ClassAction, className: string): void {
    if (this.may(action, className)) return;
    const name = normaliseClassName(className);
    throw this.refusal(action, isDataAction(action) ? [name, ...NOT_NARROWED] : [name]);
  }

  /** Fails with `forbidden` unless the action is allowed on the resource of these names, in the order of `RESOURCES`. */
  requireOn(action: Action, names: readonly string[]): void {
    if (!this.rights.allows(action, names)) throw this.refusal(action, names);
  }

  /** Fails with `forbidden` unless the action is allowed on anything at all. */
  requireAny(action: Action): void {
    if (!this.rights.allowsAny(action))
      throw this.refusal(
        action,
        RESOURCES[ACTIONS[action]].map(() => "*"),
      );
  }

  /** Whether the action is allowed on everything. */
  mayEverywhere(action: Action): boolean {
    return this.rights.covers(everywhere(action));
  }

  /** Fails with `forbidden` unless the action is allowed on everything. */
  requireEverywhere(action: Action): void {
    if (!this.mayEverywhere(action)) throw this.refusal(action, everywhere(action).values);
  }

  /** The refusal of an action (reference-today 1.6). */
  refusal(action: Action, names: readonly string[]): ShoalError {
    const who = `authorization, forbidden action: ${userWithGroups(this.principal)}`;
    return new ShoalError(
      "forbidden",
      `${who} has insufficient permissions to ${action} [${resourceText(action, names)}]`,
    );
  }

  #dataActions(className: string): number {
    // No class is called so, and a long text against many patterns takes its time. Who may do it to all classes is not refused:
    // what is wrong is the name.
    if (className.length > NAME_CHARS_MAX) {
      this.#everyClass ??= bitsOf((action) => this.mayEverywhere(action));
      return this.#everyClass;
    }
    let known = this.#classes.get(className);
    if (known === undefined) {
      const names = [normaliseClassName(className), ...NOT_NARROWED];
      known = bitsOf((action) => this.rights.allows(action, names));
      if (this.#classes.size >= CLASSES_MAX) this.#classes.clear();
      // A copy: a part of a string keeps all of that string in memory, a request's target say.
      this.#classes.set(Buffer.from(className, "utf16le").toString("utf16le"), known);
      this.remembered.chars += className.length + CLASS_CHARS;
    }
    return known;
  }
}

function bitsOf(isAllowed: (action: DataAction) => boolean): number {
  let bits = 0;
  for (const [action, bit] of Object.entries(DATA)) if (isAllowed(action as DataAction)) bits |= bit;
  return bits;
}

function isDataAction(action: ClassAction): action is DataAction {
  return ACTIONS[action] === "data";
}

/** Tenant and object of classes without tenants: only a permission that is not narrowed to some allows anything there. */
const NOT_NARROWED = ["*", "*"];

/** `collections{collection: Car}`. */
function resourceText(action: Action, names: readonly string[]): string {
  const kind = ACTIONS[action];
  const members = RESOURCES[kind].map(({ name }, at) => `${name}: ${shown(names[at] ?? "*")}`);
  return members.length === 0 ? kind : `${kind}{${members.join(", ")}}`;
}

const SHOWN_CHARS_MAX = 256;

function shown(name: string): string {
  return name.length > SHOWN_CHARS_MAX ? `${name.slice(0, SHOWN_CHARS_MAX)}…` : name;
}
