import { ShoalError } from "../errors/shoal-error.js";
import type { Json, JsonObject } from "../objects/json.js";
import { describeValue, isUncheckedObject } from "../objects/value-wording.js";
import { upperFirst } from "../schema/class-names.js";
import { PATTERN_CHARS_MAX, PATTERN_STARS_MAX, Pattern } from "./pattern.js";

/** What may be done, and the kind of resource that it is done to (reference-today 5.13). */
export const ACTIONS = {
  manage_backups: "backups",
  read_cluster: "cluster",
  create_data: "data",
  read_data: "data",
  update_data: "data",
  delete_data: "data",
  read_nodes: "nodes",
  create_roles: "roles",
  read_roles: "roles",
  update_roles: "roles",
  delete_roles: "roles",
  create_collections: "collections",
  read_collections: "collections",
  update_collections: "collections",
  delete_collections: "collections",
  assign_and_revoke_users: "users",
  create_users: "users",
  read_users: "users",
  update_users: "users",
  delete_users: "users",
  create_tenants: "tenants",
  read_tenants: "tenants",
  update_tenants: "tenants",
  delete_tenants: "tenants",
  create_replicate: "replicate",
  read_replicate: "replicate",
  update_replicate: "replicate",
  delete_replicate: "replicate",
  create_aliases: "aliases",
  read_aliases: "aliases",
  update_aliases: "aliases",
  delete_aliases: "aliases",
  assign_and_revoke_groups: "groups",
  read_groups: "groups",
} as const;

export type Action = keyof typeof ACTIONS;
export type ResourceKind = (typeof ACTIONS)[Action];

/** A member of a resource object. */
interface ResourceMember {
  readonly name: string;
  /** What it is when it is not given; undefined: it must be. */
  readonly fallback: string | undefined;
  /** The words that it may be, each of which includes those before it; absent: a name or a pattern. */
  readonly words?: readonly string[];
}

const named = (name: string): ResourceMember => ({ name, fallback: undefined });
const narrowed = (name: string): ResourceMember => ({ name, fallback: "*" });
const COLLECTION = named("collection");

/** The members of the resource objects, in the order of {@link Permission.values}. */
export const RESOURCES: { readonly [Kind in ResourceKind]: readonly ResourceMember[] } = {
  backups: [COLLECTION],
  cluster: [],
  data: [COLLECTION, narrowed("tenant"), { name: "object", fallback: "*", words: ["*"] }],
  nodes: [{ name: "verbosity", fallback: "minimal", words: ["minimal", "verbose"] }, narrowed("collection")],
  roles: [named("role"), { name: "scope", fallback: "match", words: ["match", "all"] }],
  collections: [COLLECTION],
  users: [named("users")],
  tenants: [COLLECTION, narrowed("tenant")],
  replicate: [COLLECTION, narrowed("shard")],
  aliases: [COLLECTION, narrowed("alias")],
  groups: [named("group"), { name: "groupType", fallback: "oidc", words: ["oidc"] }],
};

/** An action, and the resources that it is allowed on: a name or pattern for each member of {@link RESOURCES}. */
export class Permission {
  readonly action: Action;
  readonly kind: ResourceKind;
  readonly values: readonly string[];
  readonly #patterns: readonly Pattern[];

  constructor(action: Action, values: readonly string[]) {
    this.action = action;
    this.kind = ACTIONS[action];
    this.values = values;
    this.#patterns = values.map((value) => new Pattern(value));
  }

  /** Whether it allows its action on the resource of these names. */
  allows(names: readonly string[]): boolean {
    const members = RESOURCES[this.kind];
    for (const [at, pattern] of this.#patterns.entries()) {
      const name = names[at] ?? "";
      const words = members[at]?.words;
      if (words === undefined ? !pattern.matches(name) : !isWithin(words, name, pattern.text)) return false;
    }
    return true;
  }

  /** Whether it allows all that `other` allows. Names and patterns are compared alike: see {@link Pattern.covers}. */
  covers(other: Permission): boolean {
    return this.action === other.action && this.allows(other.values);
  }

  /** As clients send it and as it is stored. */
  toJson(): JsonObject {
    if (this.values.length === 0) return { action: this.action };
    const resource: Record<string, Json> = {};
    for (const [at, { name }] of RESOURCES[this.kind].entries()) resource[name] = this.values[at] ?? "";
    return { action: this.action, [this.kind]: resource };
  }
}

/** Whether a word is included in the one that is allowed. */
function isWithin(words: readonly string[], word: string, allowed: string): boolean {
  const at = words.indexOf(word);
  return at >= 0 && at <= words.indexOf(allowed);
}

/** A permission that allows its action on everything. */
export function everywhere(action: Action): Permission {
  return new Permission(
    action,
    RESOURCES[ACTIONS[action]].map(({ words }) => words?.at(-1) ?? "*"),
  );
}

export function isAction(text: unknown): text is Action {
  return typeof text === "string" && Object.hasOwn(ACTIONS, text);
}

/**
 * A permission as a client sent it, or as it is stored. Fails with `invalid`, naming the place. A member that is not known is
 * refused unless it asks for nothing (`*`, null): left out, it would make the permission wider than it was meant.
 */
export function parsePermission(given: unknown, place: string): Permission {
  if (!isUncheckedObject(given)) throw refused(place, `must be an object, got ${describeValue(given)}`);
  const { action } = given;
  if (!isAction(action)) {
    throw refused(`${place}.action`, `must be one of ${Object.keys(ACTIONS).join(", ")}, got ${shown(action)}`);
  }
  const kind = ACTIONS[action];
  for (const name of Object.keys(given)) {
    if (name !== "action" && name !== kind && given[name] !== null && given[name] !== undefined) {
      throw refused(`${place}.${name}`, `does not belong to the action ${action}, whose resource is '${kind}'`);
    }
  }
  const members = RESOURCES[kind];
  if (members.length === 0) return new Permission(action, []);
  const resource = given[kind];
  if (!isUncheckedObject(resource)) {
    throw refused(`${place}.${kind}`, `must be an object: it says what ${action} is allowed on`);
  }
  for (const [name, value] of Object.entries(resource)) {
    if (value === null || value === "*" || members.some((member) => member.name === name)) continue;
    throw refused(`${place}.${kind}.${name}`, `is no member, there are ${members.map((one) => one.name).join(", ")}`);
  }
  return new Permission(
    action,
    members.map((member) => readMember(member, resource[member.name], `${place}.${kind}.${member.name}`)),
  );
}

function readMember({ name, fallback, words }: ResourceMember, given: unknown, place: string): string {
  const value = given ?? fallback;
  if (typeof value !== "string" || value === "")
    throw refused(place, `must be a name or a pattern, got ${shown(value)}`);
  if (words !== undefined && !words.includes(value)) {
    throw refused(place, `must be ${words.map((word) => `'${word}'`).join(" or ")}, got ${shown(value)}`);
  }
  if (value.length > PATTERN_CHARS_MAX) {
    throw refused(place, `has ${value.length} characters, at most ${PATTERN_CHARS_MAX} are allowed`);
  }
  const stars = value.split("*").length - 1;
  if (stars > PATTERN_STARS_MAX) {
    throw refused(place, `has ${stars} times '*', at most ${PATTERN_STARS_MAX} are allowed`);
  }
  if (/\p{Cc}/u.test(value)) throw refused(place, "must not have control characters");
  // Names of classes begin with an upper-case letter, however clients write them.
  return name === "collection" ? upperFirst(value) : value;
}

function refused(place: string, rule: string): ShoalError {
  return new ShoalError("invalid", `${place} ${rule}`);
}

const SHOWN_CHARS_MAX = 100;

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value !== "string") return describeValue(value);
  return JSON.stringify(value.length > SHOWN_CHARS_MAX ? `${value.slice(0, SHOWN_CHARS_MAX)}…` : value);
}
