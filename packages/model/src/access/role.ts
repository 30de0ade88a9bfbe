import { ShoalError } from "../errors/shoal-error.js";
import type { JsonObject } from "../objects/json.js";
import { describeValue, quoteText } from "../objects/value-wording.js";
import { NAME_CHARS_MAX } from "../schema/class-names.js";
import { ACTIONS, everywhere, isAction, type Permission, parsePermission, RESOURCES } from "./permission.js";

/** Permissions under a name. */
export interface Role {
  readonly name: string;
  readonly permissions: readonly Permission[];
}

export const ROLE_NAME_CHARS_MAX = 128;
export const PERMISSIONS_PER_ROLE_MAX = 200;

const ROLE_NAME = /^[A-Za-z_][-_.0-9A-Za-z]*$/;

const all = Object.keys(ACTIONS).filter(isAction).map(everywhere);
const reading = all.filter(({ action }) => action.startsWith("read_"));

/**
 * The roles that are always there and cannot be changed. `root` and `read-only` are given by settings only, `admin` and
 * `viewer`, which allow the same, to users and groups at run time.
 */
export const BUILT_IN_ROLES: ReadonlyMap<string, Role> = new Map(
  Object.entries({ admin: all, root: all, viewer: reading, "read-only": reading }).map(([name, permissions]) => [
    name,
    { name, permissions },
  ]),
);

export const ROOT_ROLE = "root";
export const READ_ONLY_ROLE = "read-only";

/** Whether a role is given by settings only. */
export function isGivenBySettings(role: string): boolean {
  return role === ROOT_ROLE || role === READ_ONLY_ROLE;
}

/** Fails with `invalid` unless a role may have this name. */
export function checkRoleName(name: string): void {
  if (name.length <= ROLE_NAME_CHARS_MAX && ROLE_NAME.test(name)) return;
  throw new ShoalError(
    "invalid",
    `a role's name is a letter or '_', then letters, digits, '_', '-' and '.', at most ${ROLE_NAME_CHARS_MAX} characters`,
  );
}

/** A list of permissions as a client sent it, or as it is stored; each one is there once. Fails with `invalid`, or as `check` does. */
export function parsePermissions(
  given: unknown,
  place: string,
  check?: (permission: Permission, place: string) => void,
): readonly Permission[] {
  if (!Array.isArray(given)) throw new ShoalError("invalid", `${place} must be a list, got ${describeValue(given)}`);
  if (given.length > PERMISSIONS_PER_ROLE_MAX) throw tooManyPermissions(given.length);
  const parsed = given.map((one: unknown, at) => {
    const permission = parsePermission(one, `${place}[${at}]`);
    check?.(permission, `${place}[${at}]`);
    return permission;
  });
  return parsed.filter((one, at) => parsed.findIndex((other) => isSamePermission(one, other)) === at);
}

/** As {@link parsePermissions}, of what a client gives. Fails with `invalid` also on a name or pattern that nothing can ever match. */
export function parseNewPermissions(given: unknown, place: string): readonly Permission[] {
  return parsePermissions(given, place, checkMatchable);
}

/** What names of classes and roles consist of, as the form of what a pattern says of them. */
const NAMED_BY_PATTERN = {
  collection: { isMatchable: isClassPattern, rule: "a letter, then letters A to Z, digits and '_'" },
  role: { isMatchable: isRolePattern, rule: "a letter or '_', then letters, digits, '_', '-' and '.'" },
} as const;

function checkMatchable({ kind, values }: Permission, place: string): void {
  for (const [at, { name }] of RESOURCES[kind].entries()) {
    const value = values[at] ?? "";
    const member = name === "collection" || name === "role" ? NAMED_BY_PATTERN[name] : undefined;
    if (member === undefined || member.isMatchable(value)) continue;
    throw new ShoalError(
      "invalid",
      `${place}.${kind}.${name} ${quoteText(value)} can match nothing: a name of a ${name} is ${member.rule}; ` +
        "give one, or a pattern with '*' of such characters",
    );
  }
}

function isRolePattern(value: string): boolean {
  return /^[A-Za-z_*][-_.0-9A-Za-z*]*$/.test(value) && withoutStars(value) <= ROLE_NAME_CHARS_MAX;
}

function isClassPattern(value: string): boolean {
  return /^[A-Z*][_0-9A-Za-z*]*$/.test(value) && withoutStars(value) <= NAME_CHARS_MAX;
}

function withoutStars(value: string): number {
  return value.replaceAll("*", "").length;
}

export function tooManyPermissions(count: number): ShoalError {
  return new ShoalError("invalid", `a role has at most ${PERMISSIONS_PER_ROLE_MAX} permissions, got ${count}`);
}

/** Whether two permissions are written alike. */
export function isSamePermission(a: Permission, b: Permission): boolean {
  return a.action === b.action && a.values.every((value, at) => value === b.values[at]);
}

/** As clients see it. */
export function shownRole({ name, permissions }: Role): JsonObject {
  return { name, permissions: permissions.map((permission) => permission.toJson()) };
}
