import { BUILT_IN_ROLES, READ_ONLY_ROLE, ROOT_ROLE, type Role } from "@shoal/model";
import type { RolesConfiguration } from "@shoal/service-runtime";
import type { Principal } from "../auth/access.js";
import { type AccessState, subjectKey } from "./access-state.js";
import { Permissions, type RememberedClasses } from "./permissions.js";

/** So many users of one version are remembered; whoever has an issuer that makes up names cannot fill the memory. */
const USERS_MAX = 5_000;
/** Characters of all their names and groups. */
const NAMES_CHARS_MAX = 8 * 1024 * 1024;
/** Characters that are remembered of classes, for all users together; beyond them all is forgotten. */
const CLASSES_CHARS_MAX = 32 * 1024 * 1024;

/** The users of a state that are remembered. */
interface KnownUsers {
  readonly state: AccessState;
  readonly users: Map<string, Permissions>;
  readonly classes: RememberedClasses;
  /** Of the keys of all. */
  chars: number;
}

/** Who has which roles, by the settings and by a state of what is assigned. */
export class Authority {
  readonly #rootUsers: ReadonlySet<string>;
  readonly #rootGroups: ReadonlySet<string>;
  readonly #readOnlyGroups: ReadonlySet<string>;
  #known: KnownUsers | undefined;

  constructor({ rootUsers, rootGroups, readOnlyGroups }: RolesConfiguration) {
    this.#rootUsers = new Set(rootUsers);
    this.#rootGroups = new Set(rootGroups);
    this.#readOnlyGroups = new Set(readOnlyGroups);
  }

  /** What somebody may do at this state; worked out once a state. */
  permissionsOf(principal: Principal, state: AccessState): Permissions {
    if (this.#known?.state !== state || this.#known.classes.chars > CLASSES_CHARS_MAX)
      this.#known = { state, users: new Map(), classes: { chars: 0 }, chars: 0 };
    const known = this.#known;
    const { users, classes } = known;
    const { username, userType, groups } = principal;
    // With their lengths: names may hold anything.
    let key = `${userType} ${username.length} ${username}`;
    for (const group of groups) key += ` ${group.length} ${group}`;
    let permissions = users.get(key);
    if (permissions === undefined) {
      permissions = this.#workedOut(principal, state, classes);
      if (users.size >= USERS_MAX || known.chars + key.length > NAMES_CHARS_MAX) {
        users.clear();
        known.chars = 0;
      }
      users.set(key, permissions);
      known.chars += key.length;
    }
    return permissions;
  }

  /** Whether a user of this name has `root` by the settings. */
  isRootUser(name: string): boolean {
    return this.#rootUsers.has(name);
  }

  #workedOut(principal: Principal, state: AccessState, classes: RememberedClasses): Permissions {
    const { username, userType, groups } = principal;
    const isAnonymous = userType === "anonymous";
    const isRoot =
      !isAnonymous && (this.#rootUsers.has(username) || groups.some((group) => this.#rootGroups.has(group)));
    const names = new Set<string>();
    if (isRoot) names.add(ROOT_ROLE);
    if (groups.some((group) => this.#readOnlyGroups.has(group))) names.add(READ_ONLY_ROLE);
    const assigned = (subject: string) => {
      for (const name of state.assigned.get(subject) ?? []) names.add(name);
    };
    if (userType !== "anonymous") assigned(subjectKey(`user/${userType}`, username));
    if (userType === "oidc") for (const group of groups) assigned(subjectKey("group/oidc", group));
    const sinceMs = userType === "db" ? state.users.get(username)?.createdMs : undefined;
    return new Permissions(principal, rolesNamed(names, state), isRoot, sinceMs, classes);
  }
}

/** The roles of these names; those that are not there are left out. */
export function rolesNamed(names: Iterable<string>, { roles }: AccessState): readonly Role[] {
  return [...names].flatMap((name) => BUILT_IN_ROLES.get(name) ?? roles.get(name) ?? []);
}
