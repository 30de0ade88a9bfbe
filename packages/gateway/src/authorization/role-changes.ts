import {
  type Action,
  BUILT_IN_ROLES,
  checkRoleName,
  isSamePermission,
  PERMISSIONS_PER_ROLE_MAX,
  type Permission,
  Rights,
  type Role,
  ShoalError,
  tooManyPermissions,
} from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { Principal } from "../auth/access.js";
import { type AccessChangesParts, type Actor, changeAccess, type Decision, mostFor } from "./access-changes.js";
import { type AccessState, type MadeRole, roleEntry, storedRole } from "./access-state.js";
import { RightsInSteps } from "./rights-in-steps.js";

/** Roles that were made, and permissions of all of them together. */
export const ROLES_MAX = 500;
export const PERMISSIONS_MAX = 5_000;

/** One of the permissions that were to be removed, which was not there, or is still allowed. */
export interface KeptPermission {
  /** Its place among them. */
  readonly at: number;
  /** Whether another permission of the role allows it. */
  readonly isCovered: boolean;
}

/** Roles are made, changed and deleted. Nobody gives a role what he could not do himself, unless he may manage roles of any scope. */
export class RoleChanges {
  constructor(private readonly parts: AccessChangesParts) {}

  /** Fails with `conflict` when there is one of that name. */
  create(role: Role, principal: Principal, context: RequestContext): Promise<void> {
    checkRoleName(role.name);
    refuseBuiltIn(role.name);
    const id = this.parts.newId();
    return this.#changed(role.name, principal, context, async (state, actor) => {
      await requireManaging(actor, "create_roles", role);
      if (state.roles.has(role.name)) throw new ShoalError("conflict", `role '${role.name}' already exists`);
      const most = mostOf(ROLES_MAX, actor, "create_roles", role.name);
      if (state.roles.size >= most) throw tooMany(`there are ${state.roles.size} roles`, most);
      requireRoom(state, role.permissions.length, mostOf(PERMISSIONS_MAX, actor, "create_roles", role.name));
      return { ...role, id };
    });
  }

  /** True when there was one. */
  delete(name: string, principal: Principal, context: RequestContext): Promise<boolean> {
    refuseBuiltIn(name);
    return changeAccess(this.parts, principal, context, async (state, actor) => {
      const role = state.roles.get(name);
      await requireManaging(actor, "delete_roles", role ?? { name, permissions: [] });
      // Who has it keeps only its id, which no role will ever have again.
      const changes = role === undefined ? [] : [{ key: roleEntry(name), value: undefined }];
      return { changes, result: role !== undefined };
    });
  }

  /** Fails with `notFound`. */
  addPermissions(
    name: string,
    added: readonly Permission[],
    principal: Principal,
    context: RequestContext,
  ): Promise<void> {
    refuseBuiltIn(name);
    return this.#changed(name, principal, context, async (state, actor) => {
      const role = await knownRole(state, actor, "update_roles", name, added);
      const fresh = added.filter((one) => !role.permissions.some((other) => isSamePermission(one, other)));
      const count = role.permissions.length + fresh.length;
      if (count > PERMISSIONS_PER_ROLE_MAX) throw tooManyPermissions(count);
      requireRoom(state, fresh.length, mostOf(PERMISSIONS_MAX, actor, "update_roles", name));
      return { ...role, permissions: [...role.permissions, ...fresh] };
    });
  }

  /**
   * Those that the role does not have are passed over: the places of these, and of those that another permission of the role still
   * allows. Fails with `notFound`.
   */
  async removePermissions(
    name: string,
    removed: readonly Permission[],
    principal: Principal,
    context: RequestContext,
  ): Promise<readonly KeptPermission[]> {
    refuseBuiltIn(name);
    let left: readonly KeptPermission[] = [];
    await this.#changed(name, principal, context, async (state, actor) => {
      const role = await knownRole(state, actor, "update_roles", name, removed);
      const kept = role.permissions.filter((one) => !removed.some((other) => isSamePermission(one, other)));
      left = await keptOf(removed, role.permissions, kept, context);
      return { ...role, permissions: kept };
    });
    return left;
  }

  #changed(
    name: string,
    principal: Principal,
    context: RequestContext,
    decide: (state: AccessState, actor: Actor) => Promise<Pick<MadeRole, "id" | "permissions">>,
  ): Promise<void> {
    return changeAccess(this.parts, principal, context, async (state, actor): Promise<Decision<void>> => {
      const changed = await decide(state, actor);
      const isSame = state.roles.get(name)?.permissions.length === changed.permissions.length;
      const changes = isSame ? [] : [{ key: roleEntry(name), value: storedRole(changed) }];
      return { changes, result: undefined };
    });
  }
}

/**
 * Fails with `forbidden` unless the actor may do this to the role: one that may only manage roles of his own scope (`match`) must
 * be allowed all that the role allows.
 */
async function requireManaging(
  actor: Actor,
  action: Action,
  role: Role & Pick<Partial<MadeRole>, "isUnderstood">,
): Promise<void> {
  const { permissions, rights } = actor;
  if (permissions === undefined || managesAny(actor, action, role.name)) return;
  permissions.requireOn(action, [role.name, "match"]);
  if (role.isUnderstood !== false && (await rights?.coversAll(role.permissions)) === true) return;
  throw permissions.refusal(action, [role.name, "all"]);
}

/** Whether the actor may do this to roles of that name whatever they allow. */
function managesAny({ permissions }: Actor, action: Action, name: string): boolean {
  return permissions === undefined || permissions.rights.allows(action, [name, "all"]);
}

/** How much of `max` there may be after the actor has done this. */
function mostOf(max: number, actor: Actor, action: Action, name: string): number {
  return mostFor(max, managesAny(actor, action, name));
}

async function keptOf(
  removed: readonly Permission[],
  before: readonly Permission[],
  kept: readonly Permission[],
  context: RequestContext,
): Promise<readonly KeptPermission[]> {
  const left = new RightsInSteps(new Rights([{ name: "", permissions: kept }]), context);
  const all: KeptPermission[] = [];
  for (const [at, one] of removed.entries()) {
    const isCovered = await left.covers(one);
    const wasThere = before.some((other) => isSamePermission(one, other));
    if (!wasThere || isCovered) all.push({ at, isCovered });
  }
  return all;
}

/** The role, with what is added or taken away looked at, too. Fails with `forbidden`, then with `notFound`. */
async function knownRole(
  state: AccessState,
  actor: Actor,
  action: Action,
  name: string,
  touched: readonly Permission[],
): Promise<MadeRole> {
  const role = state.roles.get(name);
  const { permissions = [], isUnderstood = true } = role ?? {};
  await requireManaging(actor, action, { name, isUnderstood, permissions: [...permissions, ...touched] });
  if (role === undefined) throw unknownRole(name);
  if (!role.isUnderstood) {
    throw new ShoalError("conflict", `role '${name}' has permissions of a later version of the server`);
  }
  return role;
}

export function unknownRole(name: string): ShoalError {
  return new ShoalError("notFound", `role '${name.slice(0, 256)}' does not exist`);
}

/** Fails with `malformed` on the name of a built-in role, which nobody changes. */
export function refuseBuiltIn(name: string): void {
  if (!BUILT_IN_ROLES.has(name)) return;
  throw new ShoalError("malformed", `role '${name}' is built in: it cannot be made, changed or deleted`);
}

function requireRoom({ roles }: AccessState, more: number, most: number): void {
  let count = more;
  for (const { permissions } of roles.values()) count += permissions.length;
  if (count > most) throw tooMany(`all roles together would have ${count} permissions`, most);
}

export function tooMany(what: string, most: number): ShoalError {
  return new ShoalError("invalid", `${what}, at most ${most} are allowed`);
}
