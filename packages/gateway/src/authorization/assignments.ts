import { BUILT_IN_ROLES, isGivenBySettings, type Role, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { Principal } from "../auth/access.js";
import { type AccessChangesParts, type Actor, changeAccess, mostFor } from "./access-changes.js";
import {
  type AccessState,
  assignedEntry,
  type MadeRole,
  type SubjectKind,
  storedAssignment,
  subjectKey,
} from "./access-state.js";
import { tooMany, unknownRole } from "./role-changes.js";

/** Roles of one user or group; users and groups that have any. */
export const ROLES_PER_SUBJECT_MAX = 50;
export const SUBJECTS_MAX = 15_000;
const NAME_CHARS_MAX = 256;

/** A user or a group. */
export interface Subject {
  readonly kind: SubjectKind;
  readonly name: string;
}

/**
 * Who has which roles. Nobody gives or takes away a role that allows more than he may do himself, unless he may manage that role
 * in any scope.
 */
export class Assignments {
  constructor(private readonly parts: AccessChangesParts) {}

  /**
   * Fails with `notFound` when the user, or a role that the principal may see, does not exist, with `malformed` on a role that only
   * settings give.
   */
  assign(subject: Subject, roles: readonly string[], principal: Principal, context: RequestContext): Promise<void> {
    return this.#change(subject, roles, principal, context, (before, named) => [
      ...before,
      ...named.filter((role) => !before.includes(role)),
    ]);
  }

  /**
   * Roles that the user or group does not have are passed over. Fails as {@link assign}; what a user is assigned who is gone can be
   * taken away.
   */
  revoke(subject: Subject, roles: readonly string[], principal: Principal, context: RequestContext): Promise<void> {
    return this.#change(subject, roles, principal, context, (before, named) =>
      before.filter((role) => !named.includes(role)),
    );
  }

  #change(
    subject: Subject,
    names: readonly string[],
    principal: Principal,
    context: RequestContext,
    decide: (before: readonly string[], named: readonly string[]) => readonly string[],
  ): Promise<void> {
    checkSubject(subject);
    const roles = [...new Set(names)];
    if (roles.length > ROLES_PER_SUBJECT_MAX) throw tooMany(`${roles.length} roles are named`, ROLES_PER_SUBJECT_MAX);
    for (const role of roles) refuseGivenBySettings(role);
    const key = subjectKey(subject.kind, subject.name);
    return changeAccess(this.parts, principal, context, async (state, actor) => {
      requireAssigning(actor, subject);
      for (const name of roles) await requireGranting(actor, state, name);
      const before = state.assigned.get(key) ?? [];
      const after = decide(before, roles);
      if (after.length >= before.length) this.requireThere(subject, state);
      if (after.length > ROLES_PER_SUBJECT_MAX)
        throw tooMany(`it would have ${after.length} roles`, ROLES_PER_SUBJECT_MAX);
      const most = mostFor(SUBJECTS_MAX, actor.permissions?.mayEverywhere(assigningOf(subject)) !== false);
      if (before.length === 0 && after.length > 0 && state.assigned.size >= most) {
        throw tooMany(`${state.assigned.size} users and groups have roles`, most);
      }
      const value = after.length === 0 ? undefined : after.map((role) => storedAssignment(role, state.roles));
      const changes = after.length === before.length ? [] : [{ key: assignedEntry(key), value }];
      return { changes, result: undefined };
    });
  }

  /** Fails with `notFound` on a user without a key. Users of an issuer and groups are known by their tokens only. */
  requireThere({ kind, name }: Subject, { users }: AccessState): void {
    if (kind !== "user/db" || users.has(name) || this.parts.isStaticUser(name)) return;
    throw new ShoalError("notFound", `user '${name}' does not exist: there is no API key for it`);
  }
}

/** Fails with `invalid` unless a user or group may be called so. */
export function checkSubject({ kind, name }: Subject): void {
  if (name !== "" && name.length <= NAME_CHARS_MAX && !/\p{Cc}/u.test(name)) return;
  const what = kind === "group/oidc" ? "group" : "user";
  throw new ShoalError(
    "invalid",
    `the name of a ${what} has 1 to ${NAME_CHARS_MAX} characters, and no control characters`,
  );
}

function assigningOf({ kind }: Subject): "assign_and_revoke_groups" | "assign_and_revoke_users" {
  return kind === "group/oidc" ? "assign_and_revoke_groups" : "assign_and_revoke_users";
}

function requireAssigning({ permissions }: Actor, subject: Subject): void {
  permissions?.requireOn(assigningOf(subject), subject.kind === "group/oidc" ? [subject.name, "oidc"] : [subject.name]);
}

/**
 * Fails with `forbidden` unless the actor is allowed all that the role allows, or may change roles like this one in any way. A role that
 * does not exist is `notFound` to those only who may read or change it if it did: others are refused as for one that exists.
 */
async function requireGranting({ permissions, rights }: Actor, { roles }: AccessState, name: string): Promise<void> {
  const role: (Role & Partial<Pick<MadeRole, "isUnderstood">>) | undefined =
    BUILT_IN_ROLES.get(name) ?? roles.get(name);
  if (permissions === undefined || rights === undefined) {
    if (role === undefined) throw unknownRole(name);
    return;
  }
  const mayChange = await rights.allows("update_roles", [name, "all"]);
  if (role === undefined) {
    if (mayChange || (await rights.allows("read_roles", [name, "match"]))) throw unknownRole(name);
    throw permissions.refusal("update_roles", [name, "all"]);
  }
  if (mayChange || (role.isUnderstood !== false && (await rights.coversAll(role.permissions)))) return;
  throw permissions.refusal("update_roles", [name, "all"]);
}

function refuseGivenBySettings(role: string): void {
  if (!isGivenBySettings(role)) return;
  throw new ShoalError("malformed", `role '${role}' is given by settings only: it cannot be assigned or revoked`);
}
