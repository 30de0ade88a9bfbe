import { type Action, ShoalError, shownRole } from "@shoal/model";
import type { AccessBook } from "../authorization/access-book.js";
import { type AccessState, type DatabaseUser, subjectKey } from "../authorization/access-state.js";
import type { Permissions } from "../authorization/permissions.js";
import { RightsInSteps } from "../authorization/rights-in-steps.js";
import { unknownUser } from "../authorization/user-changes.js";
import { type HttpRequest, queryParameter } from "../http/http-request.js";
import { errorResponse, type HttpResponse, jsonResponse, NO_CONTENT } from "../http/http-response.js";
import type { Method, Route } from "../http/route.js";
import { readAccessBody, readTruth } from "./access-bodies.js";
import { byName, isTrue } from "./authz-routes.js";

const OK: HttpResponse = { status: 200 };
const USERS_OFF = errorResponse(
  501,
  "users cannot be made at run time: switch that on with AUTHENTICATION_DB_USERS_ENABLED",
);

/** Who one is, and users with an API key that are made at run time (reference-today 5.13). */
export function usersRoutes(book: AccessBook | undefined): readonly Route[] {
  const asking =
    (
      response: (
        request: HttpRequest,
        state: AccessState,
        permissions: Permissions | undefined,
      ) => HttpResponse | Promise<HttpResponse>,
    ): Route["handle"] =>
    async (request) => {
      if (book?.hasUsers !== true) return USERS_OFF;
      refuseLastUse(request);
      const state = await book.latest(request.context);
      return response(request, state, book.permissionsAt(request.principal, state));
    };
  const changing =
    (
      change: (users: AccessBook["users"], name: string, request: HttpRequest) => Promise<HttpResponse>,
    ): Route["handle"] =>
    async (request) =>
      book?.hasUsers === true ? change(book.users, request.params[0] ?? "", request) : USERS_OFF;
  const remove = changing(async (users, name, { principal, context }) => {
    await users.delete(name, principal, context);
    return NO_CONTENT;
  });
  const rotateKey = changing(async (users, name, { principal, context }) =>
    newKey(200, await users.rotateKey(name, principal, context)),
  );
  const activate = changing(async (users, name, { principal, context }) => {
    await users.activate(name, principal, context);
    return OK;
  });
  const all = "/v1/users/db";
  const one = `${all}/{user}`;
  return [
    { ...route("GET", "/v1/users/own-info", "read_users"), access: "authenticated", handle: ownInfo(book) },
    { ...route("GET", all, "read_users"), handle: asking(listUsers) },
    { ...route("GET", one, "read_users"), handle: asking((...asked) => getUser(book, ...asked)) },
    { ...route("POST", one, "create_users", "create_user"), body: "json", handle: changing(createUser) },
    { ...route("DELETE", one, "delete_users", "delete_user"), handle: remove },
    { ...route("POST", `${one}/rotate-key`, "update_users", "rotate_key"), handle: rotateKey },
    { ...route("POST", `${one}/activate`, "update_users", "activate_user"), handle: activate },
    {
      ...route("POST", `${one}/deactivate`, "update_users", "deactivate_user"),
      body: "json",
      handle: changing(deactivate),
    },
  ];
}

const VERBS = { read_users: "get", create_users: "create", update_users: "update", delete_users: "delete" } as const;

/** `audited`: what the audit log calls the change; absent: it is none. */
function route(
  method: Method,
  path: string,
  action: keyof typeof VERBS & Action,
  audited?: string,
): Omit<Route, "handle"> {
  const access = { verb: VERBS[action], resource: "users", action } as const;
  const record = audited === undefined ? {} : { audited: { action: audited, recorded: "line" } as const };
  return { method, path, body: "none", access, ...record, timeout: "request" };
}

/** Groups are those of the token; roles those that one has, whoever gave them, as far as this process knows. */
function ownInfo(book: AccessBook | undefined): Route["handle"] {
  return ({ principal }) => {
    const { username, groups } = principal;
    const permissions = book?.permissionsOf(principal);
    return jsonResponse(200, { username, roles: (permissions?.roles ?? []).map(shownRole), groups });
  };
}

/** When keys were used last is known to no process for all of them: a time that is wrong is worse than none. */
function refuseLastUse(request: HttpRequest): void {
  if (!isTrue(queryParameter(request, "includeLastUsedTime"), "includeLastUsedTime")) return;
  throw new ShoalError("invalid", "includeLastUsedTime is not built: when a key was used last is not recorded");
}

function shownUser({ name, isActive, keyStart, createdMs }: DatabaseUser, state: AccessState) {
  return {
    userId: name,
    dbUserType: "db_user",
    active: isActive,
    roles: state.assigned.get(subjectKey("user/db", name)) ?? [],
    createdAt: new Date(createdMs).toISOString(),
    apiKeyFirstLetters: keyStart,
  };
}

async function listUsers(
  { context }: HttpRequest,
  state: AccessState,
  permissions: Permissions | undefined,
): Promise<HttpResponse> {
  const rights = permissions && new RightsInSteps(permissions.rights, context);
  const seen: DatabaseUser[] = [];
  for (const user of state.users.values()) {
    if (rights === undefined || (await rights.allows("read_users", [user.name]))) seen.push(user);
  }
  return jsonResponse(
    200,
    seen.sort(byName).map((user) => shownUser(user, state)),
  );
}

function getUser(
  book: AccessBook | undefined,
  { params }: HttpRequest,
  state: AccessState,
  permissions: Permissions | undefined,
): HttpResponse {
  const [name = ""] = params;
  permissions?.requireOn("read_users", [name]);
  const user = state.users.get(name);
  if (user !== undefined) return jsonResponse(200, shownUser(user, state));
  if (book?.isStaticUser(name) !== true) throw unknownUser(name, false);
  const roles = state.assigned.get(subjectKey("user/db", name)) ?? [];
  return jsonResponse(200, { userId: name, dbUserType: "db_env_user", active: true, roles });
}

async function createUser(users: AccessBook["users"], name: string, request: HttpRequest): Promise<HttpResponse> {
  if (readTruth(readAccessBody(request.body, ["import"]), "import")) {
    return errorResponse(501, "keys of the settings cannot be imported: make the user without import, with a new key");
  }
  return newKey(201, await users.create(name, request.principal, request.context));
}

function newKey(status: number, apikey: string): HttpResponse {
  return { ...jsonResponse(status, { apikey }), headers: ["Cache-Control", "no-store"] };
}

async function deactivate(users: AccessBook["users"], name: string, request: HttpRequest): Promise<HttpResponse> {
  const revokesKey = readTruth(readAccessBody(request.body, ["revoke_key"]), "revoke_key");
  await users.deactivate(name, revokesKey, request.principal, request.context);
  return OK;
}
