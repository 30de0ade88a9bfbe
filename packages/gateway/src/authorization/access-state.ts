import { isUncheckedObject, type Json, type Permission, parsePermission, type Role, ShoalError } from "@shoal/model";
import type { AccessSnapshot } from "@shoal/rpc";

/** Of whom roles are: a user by who vouches for the name, or a group of a token. */
export type SubjectKind = "user/db" | "user/oidc" | "group/oidc";

/** A role that was made at run time. */
export interface MadeRole extends Role {
  /** Drawn when it was made: a role that is deleted and created again under the same name is another one, and nobody has it. */
  readonly id: string;
  /** False when a permission could not be read, that of a later version, say: it is not known what the role allows. */
  readonly isUnderstood: boolean;
}

/** A user that was made at run time. */
export interface DatabaseUser {
  readonly name: string;
  /** SHA-256 of the key, base64; undefined when it was revoked. */
  readonly digest: string | undefined;
  /** What the key begins with, so that its owner can tell it from others. */
  readonly keyStart: string;
  readonly isActive: boolean;
  /** Milliseconds since 1970. */
  readonly createdMs: number;
}

/** Roles, who has them, and users, at one version. */
export interface AccessState {
  readonly snapshot: AccessSnapshot;
  readonly roles: ReadonlyMap<string, MadeRole>;
  /** Names of the roles by subject, see {@link subjectKey}; roles that are gone are left out. */
  readonly assigned: ReadonlyMap<string, readonly string[]>;
  readonly users: ReadonlyMap<string, DatabaseUser>;
}

const ROLE = "role/";
const ASSIGNED = "assigned/";
const USER = "user/";

export const roleEntry = (name: string): string => ROLE + name;
export const userEntry = (name: string): string => USER + name;
export const assignedEntry = (subject: string): string => ASSIGNED + subject;

export function subjectKey(kind: SubjectKind, name: string): string {
  return `${kind}/${name}`;
}

/** Kind and name of a subject's key. */
export function subjectOf(key: string): { readonly kind: SubjectKind; readonly name: string } {
  const at = key.indexOf("/", key.indexOf("/") + 1);
  return { kind: key.slice(0, at) as SubjectKind, name: key.slice(at + 1) };
}

const states = new WeakMap<AccessSnapshot, AccessState>();

/** What the entries of a snapshot mean. Entries that cannot be read count as not there: nobody has a right because of them. */
export function stateOf(snapshot: AccessSnapshot): AccessState {
  let state = states.get(snapshot);
  if (state === undefined) {
    state = readState(snapshot);
    states.set(snapshot, state);
  }
  return state;
}

function readState(snapshot: AccessSnapshot): AccessState {
  const roles = new Map<string, MadeRole>();
  const users = new Map<string, DatabaseUser>();
  const assigned = new Map<string, readonly string[]>();
  for (const [key, value] of snapshot.entries) {
    if (key.startsWith(ROLE)) {
      const role = readRole(key.slice(ROLE.length), value);
      if (role !== undefined) roles.set(role.name, role);
    } else if (key.startsWith(USER)) {
      const user = readUser(key.slice(USER.length), value);
      if (user !== undefined) users.set(user.name, user);
    }
  }
  for (const [key, value] of snapshot.entries) {
    if (!key.startsWith(ASSIGNED) || !Array.isArray(value)) continue;
    const names = value.flatMap((stored: Json) => assignedName(stored, roles) ?? []);
    if (names.length > 0) assigned.set(key.slice(ASSIGNED.length), names);
  }
  return { snapshot, roles, assigned, users };
}

/** Values that did not change are the same objects in every snapshot: what they mean is read once. */
const rolesRead = new WeakMap<object, MadeRole>();

function readRole(name: string, value: Json): MadeRole | undefined {
  if (!isUncheckedObject(value)) return undefined;
  const before = rolesRead.get(value);
  if (before !== undefined) return before;
  const { id, permissions } = value;
  if (typeof id !== "string" || !Array.isArray(permissions)) return undefined;
  const read = permissions.map((one: unknown) => permissionOrUndefined(one));
  const understood = read.filter((one) => one !== undefined);
  const role = { name, id, permissions: understood, isUnderstood: understood.length === read.length };
  rolesRead.set(value, role);
  return role;
}

function permissionOrUndefined(given: unknown): Permission | undefined {
  try {
    return parsePermission(given, "permission");
  } catch (thrown) {
    if (thrown instanceof ShoalError) return undefined;
    throw thrown;
  }
}

function readUser(name: string, value: Json): DatabaseUser | undefined {
  if (!isUncheckedObject(value)) return undefined;
  const { digest, keyStart, isActive, createdMs } = value;
  return {
    name,
    digest: typeof digest === "string" ? digest : undefined,
    keyStart: typeof keyStart === "string" ? keyStart : "",
    isActive: isActive === true,
    createdMs: typeof createdMs === "number" ? createdMs : 0,
  };
}

export function storedRole({ id, permissions }: Pick<MadeRole, "id" | "permissions">): Json {
  return { id, permissions: permissions.map((permission) => permission.toJson()) };
}

export function storedUser({ digest, keyStart, isActive, createdMs }: DatabaseUser): Json {
  return { ...(digest === undefined ? {} : { digest }), keyStart, isActive, createdMs };
}

/** A built-in role is stored as its name, one that was made with its id: a name has no slash. */
export function storedAssignment(role: string, roles: AccessState["roles"]): string {
  const made = roles.get(role);
  return made === undefined ? role : `${role}/${made.id}`;
}

const ASSIGNABLE = ["admin", "viewer"];

function assignedName(stored: Json, roles: ReadonlyMap<string, MadeRole>): string | undefined {
  if (typeof stored !== "string") return undefined;
  const [name = "", id] = stored.split("/");
  if (id === undefined) return ASSIGNABLE.includes(name) ? name : undefined;
  return roles.get(name)?.id === id ? name : undefined;
}
