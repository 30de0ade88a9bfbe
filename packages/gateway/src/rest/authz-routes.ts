import {
  type Action,
  BUILT_IN_ROLES,
  type Permission,
  parsePermission,
  type Role,
  ShoalError,
  shownRole,
} from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { AccessBook } from "../authorization/access-book.js";
import { type AccessState, type SubjectKind, subjectKey, subjectOf } from "../authorization/access-state.js";
import { checkSubject, type Subject } from "../authorization/assignments.js";
import { rolesNamed } from "../authorization/authority.js";
import type { Permissions } from "../authorization/permissions.js";
import { RightsInSteps } from "../authorization/rights-in-steps.js";
import { unknownRole } from "../authorization/role-changes.js";
import { type HttpRequest, queryParameter } from "../http/http-request.js";
import { errorResponse, type HttpResponse, jsonResponse, NO_CONTENT } from "../http/http-response.js";
import type { Method, Route } from "../http/route.js";
import { parseJson } from "../json/parse-json.js";
import { readNewPermissions, readPermissions, readRole, readRoleNames, refuseDoubledMembers } from "./access-bodies.js";

const OK: HttpResponse = { status: 200 };
const CREATED: HttpResponse = { status: 201 };

/** What is asked of roles when they are off. */
const ROLES_OFF = errorResponse(501, "roles are off: switch them on with AUTHORIZATION_RBAC_ENABLED");

/** What a client asks, and what it may see at the state that is current. */
interface Asked {
  readonly request: HttpRequest;
  readonly state: AccessState;
  readonly permissions: Permissions;
  /** Those of the permissions. */
  readonly rights: RightsInSteps;
}

/** Roles, and who has them (reference-today 5.13). `book` is undefined before it is known whether there are any. */
export function authzRoutes(book: AccessBook | undefined): readonly Route[] {
  /** A handler that knows what the client may do, at the state that is current. */
  const asking =
    (response: (asked: Asked) => HttpResponse | Promise<HttpResponse>): Route["handle"] =>
    async (request) => {
      if (book === undefined || !book.hasRoles) return ROLES_OFF;
      const state = await book.latest(request.context);
      const permissions = book.permissionsAt(request.principal, state);
      if (permissions === undefined) return ROLES_OFF;
      const rights = new RightsInSteps(permissions.rights, request.context);
      return response({ request, state, permissions, rights });
    };
  const changing =
    (change: (request: HttpRequest, book: AccessBook) => Promise<HttpResponse>): Route["handle"] =>
    async (request) =>
      book?.hasRoles === true ? change(request, book) : ROLES_OFF;

  const ofUser: Parameters<typeof asking>[0] = (asked) => rolesOfUser(book, asked);
  const roles = "/v1/authz/roles";
  const role = `${roles}/{role}`;
  return [
    read(roles, "read_roles", asking(listRoles)),
    write("POST", roles, "create_roles", changing(createRole), "create_role"),
    read(role, "read_roles", asking(getRole)),
    { ...write("DELETE", role, "delete_roles", changing(deleteRole), "delete_role"), body: "none" },
    write("POST", `${role}/add-permissions`, "update_roles", changing(addPermissions), "add_permissions"),
    write("POST", `${role}/remove-permissions`, "update_roles", changing(removePermissions), "remove_permissions"),
    write("POST", `${role}/has-permission`, "read_roles", asking(hasPermission)),
    read(`${role}/users`, "read_roles", asking(usersOfRole)),
    read(
      `${role}/user-assignments`,
      "read_roles",
      asking((asked) => userAssignments(book, asked)),
    ),
    read(`${role}/group-assignments`, "read_roles", asking(groupAssignments)),
    write(
      "POST",
      "/v1/authz/users/{user}/assign",
      "assign_and_revoke_users",
      changing(changeRoles("assign", "userType", userKind)),
      "assign_roles",
    ),
    write(
      "POST",
      "/v1/authz/users/{user}/revoke",
      "assign_and_revoke_users",
      changing(changeRoles("revoke", "userType", userKind)),
      "revoke_roles",
    ),
    // Everybody may ask for his own roles.
    read("/v1/authz/users/{user}/roles", undefined, asking(ofUser)),
    read("/v1/authz/users/{user}/roles/{userType}", undefined, asking(ofUser)),
    write(
      "POST",
      "/v1/authz/groups/{group}/assign",
      "assign_and_revoke_groups",
      changing(changeRoles("assign", "groupType", groupKind)),
      "assign_roles",
    ),
    write(
      "POST",
      "/v1/authz/groups/{group}/revoke",
      "assign_and_revoke_groups",
      changing(changeRoles("revoke", "groupType", groupKind)),
      "revoke_roles",
    ),
    read("/v1/authz/groups/{groupType}", "read_groups", asking(groupsWithRoles)),
    read("/v1/authz/groups/{group}/roles/{groupType}", undefined, asking(rolesOfGroup)),
  ];
}

/** Without an action it is for everybody whom the server knows; the handler looks closer. */
function read(path: string, action: Action | undefined, handle: Route["handle"]): Route {
  const access =
    action === undefined ? ("authenticated" as const) : ({ verb: "get", resource: "authz", action } as const);
  return { method: "GET", path, body: "none", access, timeout: "request", handle };
}

/** `audited`: what the audit log calls the change; absent: it is none. */
function write(method: Method, path: string, action: Action, handle: Route["handle"], audited?: string): Route {
  const verb = method === "DELETE" ? "delete" : action === "read_roles" ? "get" : "update";
  const access = { verb, resource: "authz", action } as const;
  const record = audited === undefined ? {} : { audited: { action: audited, recorded: "line" } as const };
  return { method, path, body: "json", access, ...record, timeout: "request", handle };
}

/** Those that were made, by name, behind the built-in ones. */
function allRoles({ roles }: AccessState): readonly Role[] {
  return [...BUILT_IN_ROLES.values(), ...[...roles.values()].sort(byName)];
}

export function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Whether somebody may see a role: any, one that allows no more than he may, or one that he has. */
async function maySeeRole({ rights, permissions }: Asked, role: Role): Promise<boolean> {
  if (permissions.roles.some(({ name }) => name === role.name)) return true;
  if (await rights.allows("read_roles", [role.name, "all"])) return true;
  return (await rights.allows("read_roles", [role.name, "match"])) && (await rights.coversAll(role.permissions));
}

async function listRoles(asked: Asked): Promise<HttpResponse> {
  const seen: Role[] = [];
  for (const role of allRoles(asked.state)) if (await maySeeRole(asked, role)) seen.push(role);
  return jsonResponse(200, seen.map(shownRole));
}

/** Fails with `forbidden` before it is revealed whether there is such a role, then with `notFound`. */
async function seenRole(name: string, asked: Asked): Promise<Role> {
  const { state, permissions } = asked;
  const role = BUILT_IN_ROLES.get(name) ?? state.roles.get(name);
  if (role !== undefined && (await maySeeRole(asked, role))) return role;
  permissions.requireOn("read_roles", [name, "match"]);
  if (role === undefined) throw unknownRole(name);
  throw permissions.refusal("read_roles", [name, "all"]);
}

async function getRole(asked: Asked): Promise<HttpResponse> {
  return jsonResponse(200, shownRole(await seenRole(asked.request.params[0] ?? "", asked)));
}

async function createRole({ body, principal, context }: HttpRequest, book: AccessBook): Promise<HttpResponse> {
  const role = readRole(body);
  context.observer?.concerns("role", role.name);
  reportPermissions(context, role.permissions);
  await book.roles.create(role, principal, context);
  return CREATED;
}

/** A role that is not there is deleted, too. */
async function deleteRole({ params, principal, context }: HttpRequest, book: AccessBook): Promise<HttpResponse> {
  await book.roles.delete(params[0] ?? "", principal, context);
  return NO_CONTENT;
}

async function addPermissions(request: HttpRequest, book: AccessBook): Promise<HttpResponse> {
  const { params, body, principal, context } = request;
  const added = readNewPermissions(body);
  reportPermissions(context, added);
  await book.roles.addPermissions(params[0] ?? "", added, principal, context);
  return OK;
}

/** 200 whether the role had them or not (reference-today 5.13); a `Warning` names those that it had not, or still allows. */
async function removePermissions(request: HttpRequest, book: AccessBook): Promise<HttpResponse> {
  const { params, body, principal, context } = request;
  const removed = readPermissions(body);
  reportPermissions(context, removed);
  const kept = await book.roles.removePermissions(params[0] ?? "", removed, principal, context);
  for (const { at, isCovered } of kept) request.warnings.addKeptPermission(`permissions[${at}]`, isCovered);
  return OK;
}

/** For the audit log. */
function reportPermissions({ observer }: RequestContext, permissions: readonly Permission[]): void {
  const shown = permissions.map((permission) => JSON.stringify(permission.toJson()));
  observer?.concerns("permissions", shown);
}

async function hasPermission(asked: Asked): Promise<HttpResponse> {
  const { params, body } = asked.request;
  const role = await seenRole(params[0] ?? "", asked);
  const wanted = parsePermission(parseJson(body), "permission");
  refuseDoubledMembers(body);
  return jsonResponse(
    200,
    role.permissions.some((permission) => permission.covers(wanted)),
  );
}

/** The subjects that have the role that is asked for, those that the client may know of. */
async function subjectsOfRole(asked: Asked, ofGroups: boolean): Promise<readonly Subject[]> {
  const role = await seenRole(asked.request.params[0] ?? "", asked);
  const subjects: Subject[] = [];
  for (const [key, roles] of asked.state.assigned) {
    if (!roles.includes(role.name)) continue;
    const subject = subjectOf(key);
    if ((subject.kind === "group/oidc") === ofGroups && (await maySeeSubject(subject, asked))) subjects.push(subject);
  }
  return subjects.sort(byName);
}

async function maySeeSubject({ kind, name }: Subject, { rights, permissions }: Asked): Promise<boolean> {
  const { principal } = permissions;
  if (kind === "group/oidc") return rights.allows("read_groups", [name, "oidc"]);
  const isOneself = principal.username === name && kind === `user/${principal.userType}`;
  return isOneself || rights.allows("read_users", [name]);
}

/** Names only, of users of either type. */
async function usersOfRole(asked: Asked): Promise<HttpResponse> {
  const users = await subjectsOfRole(asked, false);
  return jsonResponse(200, [...new Set(users.map(({ name }) => name))]);
}

async function userAssignments(book: AccessBook | undefined, asked: Asked): Promise<HttpResponse> {
  const users = await subjectsOfRole(asked, false);
  const typeOf = ({ kind, name }: Subject): string => {
    if (kind === "user/oidc") return "oidc";
    return book?.isStaticUser(name) === true ? "db_env_user" : "db_user";
  };
  return jsonResponse(
    200,
    users.map((user) => ({ userId: user.name, userType: typeOf(user) })),
  );
}

async function groupAssignments(asked: Asked): Promise<HttpResponse> {
  const groups = await subjectsOfRole(asked, true);
  return jsonResponse(
    200,
    groups.map(({ name }) => ({ groupId: name, groupType: "oidc" })),
  );
}

/** `kindOf` of the member `type` fails with `invalid` when it is not clear whose roles are changed. */
function changeRoles(
  how: "assign" | "revoke",
  type: "userType" | "groupType",
  kindOf: (given: unknown) => SubjectKind,
) {
  return async ({ params, body, principal, context }: HttpRequest, book: AccessBook): Promise<HttpResponse> => {
    const { roles, type: given } = readRoleNames(body, type);
    context.observer?.concerns("roles", roles);
    await book.assignments[how]({ kind: kindOf(given), name: params[0] ?? "" }, roles, principal, context);
    return OK;
  };
}

/** Without a type it would be a guess whose rights are changed. */
function userKind(type: unknown): SubjectKind {
  if (type === "db" || type === "oidc") return `user/${type}`;
  throw new ShoalError("invalid", "userType must be 'db' (users with an API key) or 'oidc' (users of an issuer)");
}

function checkGroupType(type: unknown): void {
  if (type !== "oidc") throw new ShoalError("invalid", "groupType must be 'oidc'");
}

function groupKind(type: unknown): SubjectKind {
  checkGroupType(type ?? "oidc");
  return "group/oidc";
}

/**
 * Roles of a user; without a type, of the users of that name of either type. Of a user with a key it is known whether there is
 * one, of a user of an issuer it is not. What is left of a user who is gone can be seen.
 */
async function rolesOfUser(book: AccessBook | undefined, asked: Asked): Promise<HttpResponse> {
  const { request, state, permissions } = asked;
  const [name = "", type] = request.params;
  const kinds: readonly SubjectKind[] = type === undefined ? ["user/db", "user/oidc"] : [userKind(type)];
  const seen: SubjectKind[] = [];
  for (const kind of kinds) {
    checkSubject({ kind, name });
    if (await maySeeSubject({ kind, name }, asked)) seen.push(kind);
  }
  if (seen.length === 0) throw permissions.refusal("read_users", [name]);
  const names = seen.flatMap((kind) => state.assigned.get(subjectKey(kind, name)) ?? []);
  const isOneself =
    permissions.principal.username === name && kinds.includes(`user/${permissions.principal.userType}` as SubjectKind);
  if (!isOneself && names.length === 0) {
    for (const kind of type === undefined ? [] : kinds) book?.assignments.requireThere({ kind, name }, state);
  }
  return shownRoles(isOneself ? permissions.roles : rolesNamed(new Set(names), state), asked);
}

function rolesOfGroup(asked: Asked): Promise<HttpResponse> {
  const { request, state, permissions } = asked;
  const [name = "", type] = request.params;
  checkGroupType(type);
  const subject: Subject = { kind: "group/oidc", name };
  checkSubject(subject);
  const isOwn = permissions.principal.userType === "oidc" && permissions.principal.groups.includes(name);
  if (!isOwn) permissions.requireOn("read_groups", [name, "oidc"]);
  return shownRoles(rolesNamed(state.assigned.get(subjectKey(subject.kind, name)) ?? [], state), asked);
}

/** Names, with `includeFullRoles=true` also what they allow. */
async function shownRoles(roles: readonly Role[], asked: Asked): Promise<HttpResponse> {
  const isFull = isTrue(queryParameter(asked.request, "includeFullRoles"), "includeFullRoles");
  for (const role of isFull ? roles : []) {
    if (!(await maySeeRole(asked, role))) throw asked.permissions.refusal("read_roles", [role.name, "all"]);
  }
  return jsonResponse(
    200,
    roles.map((role) => (isFull ? shownRole(role) : { name: role.name })),
  );
}

export function isTrue(value: string | undefined, name: string): boolean {
  if (value === undefined || value.toLowerCase() === "false") return false;
  if (value.toLowerCase() === "true") return true;
  throw new ShoalError("invalid", `${name} in query must be true or false`);
}

/** Groups that have a role. */
async function groupsWithRoles(asked: Asked): Promise<HttpResponse> {
  checkGroupType(asked.request.params[0]);
  const groups: Subject[] = [];
  for (const key of asked.state.assigned.keys()) {
    const subject = subjectOf(key);
    if (subject.kind === "group/oidc" && (await maySeeSubject(subject, asked))) groups.push(subject);
  }
  return jsonResponse(
    200,
    groups.sort(byName).map(({ name }) => name),
  );
}
