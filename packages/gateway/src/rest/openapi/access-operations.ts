import * as z from "zod";
import {
  DEACTIVATION_BODY,
  GROUP_ROLES_BODY,
  NEW_USER_BODY,
  PERMISSION_BODY,
  PERMISSIONS_BODY,
  ROLE_BODY,
  USER_ROLES_BODY,
} from "../access-bodies.js";
import { type DescribedBody, type DescribedResponse, type Operation, operation } from "./operation.js";

const PERMISSION = { action: "read_data", data: { collection: "Article", tenant: "*", object: "*" } };
const ROLE = { name: "reader", permissions: [PERMISSION] };

const ROLE_NAMES = z.array(z.looseObject({ name: z.string() }));
const NAMES = z.array(z.string());
const USER = z.looseObject({
  userId: z.string(),
  dbUserType: z.enum(["db_user", "db_env_user"]),
  active: z.boolean(),
  roles: NAMES,
  createdAt: z.string().optional().meta({ format: "date-time" }),
  apiKeyFirstLetters: z.string().optional(),
});
const API_KEY = z.strictObject({ apikey: z.string().describe("Shown once: only its SHA-256 is kept.") });
const OWN_INFO = z.strictObject({ username: z.string(), roles: z.array(ROLE_BODY), groups: NAMES });

const FULL_ROLES = z.object({
  includeFullRoles: z.enum(["true", "false"]).optional().describe("Whether the answer says what the roles allow."),
});
const LAST_USE = z.object({
  includeLastUsedTime: z.enum(["true", "false"]).optional().describe("Not built: `true` is refused with 422."),
});

const DONE: DescribedResponse = { description: "Done, and in force on this gateway." };
const OFF: DescribedResponse = { description: "Roles, or users made at run time, are off." };
const NO_ROLE: DescribedResponse = { description: "There is no such role, or no such user." };
const BUILT_IN: DescribedResponse = { description: "The role is built in, or given by settings only." };
const REFUSED: DescribedResponse = {
  description: "A name, a permission or a member is not allowed; the place is named.",
};

function asked(path: string, id: string, summary: string, schema: z.ZodType, more: Partial<Operation> = {}): Operation {
  const responses = { 200: { description: "The answer.", schema }, 422: REFUSED, 501: OFF, ...more.responses };
  return { method: "GET", path, id, tag: "access", summary, ...more, responses };
}

function done(
  path: string,
  id: string,
  summary: string,
  body: DescribedBody | undefined,
  responses: Operation["responses"],
  method: Operation["method"] = "POST",
): Operation {
  const described = body === undefined ? {} : { body };
  return {
    method,
    path,
    id,
    tag: "access",
    summary,
    ...described,
    responses: { 422: REFUSED, 501: OFF, ...responses },
  };
}

const body = (schema: z.ZodType, example: unknown): DescribedBody => ({ schema, examples: { example } });

/** Roles, who has them, and users with API keys (reference-today 5.13). */
export function accessOperations(): readonly Operation[] {
  const roles = "/v1/authz/roles";
  const role = `${roles}/{role}`;
  const user = "/v1/authz/users/{user}";
  const group = "/v1/authz/groups/{group}";
  const permissions = body(PERMISSIONS_BODY, { permissions: [PERMISSION] });
  const ofUser = body(USER_ROLES_BODY, { roles: ["reader"], userType: "db" });
  const ofGroup = body(GROUP_ROLES_BODY, { roles: ["reader"], groupType: "oidc" });
  const changed = { 200: DONE, 400: BUILT_IN, 404: NO_ROLE };
  const one = "/v1/users/db/{user}";
  return [
    asked(roles, "listRoles", "The roles that one may see", z.array(ROLE_BODY)),
    done(roles, "createRole", "Make a role", body(ROLE_BODY, ROLE), {
      201: DONE,
      400: BUILT_IN,
      409: { description: "There is a role of that name." },
    }),
    asked(role, "getRole", "A role", ROLE_BODY, { responses: { 404: NO_ROLE } }),
    done(
      role,
      "deleteRole",
      "Delete a role: nobody has it any more",
      undefined,
      { 204: DONE, 400: BUILT_IN },
      "DELETE",
    ),
    done(`${role}/add-permissions`, "addPermissions", "Let a role allow more", permissions, changed),
    done(
      `${role}/remove-permissions`,
      "removePermissions",
      "Let a role allow less: permissions that it has as they are given here",
      permissions,
      changed,
    ),
    done(
      `${role}/has-permission`,
      "hasPermission",
      "Whether a role allows something",
      body(PERMISSION_BODY, PERMISSION),
      {
        200: { description: "Whether it does.", schema: z.boolean() },
        404: NO_ROLE,
      },
    ),
    asked(`${role}/users`, "listUsersOfRole", "Names of the users who have a role", NAMES, {
      responses: { 404: NO_ROLE },
    }),
    asked(
      `${role}/user-assignments`,
      "listUserAssignments",
      "The users who have a role",
      z.array(z.strictObject({ userId: z.string(), userType: z.enum(["db_user", "db_env_user", "oidc"]) })),
      { responses: { 404: NO_ROLE } },
    ),
    asked(
      `${role}/group-assignments`,
      "listGroupAssignments",
      "The groups that have a role",
      z.array(z.strictObject({ groupId: z.string(), groupType: z.literal("oidc") })),
      { responses: { 404: NO_ROLE } },
    ),
    done(`${user}/assign`, "assignRolesToUser", "Give roles to a user", ofUser, changed),
    done(`${user}/revoke`, "revokeRolesOfUser", "Take roles from a user", ofUser, changed),
    asked(`${user}/roles`, "listRolesOfName", "Roles of the users of a name", ROLE_NAMES, {
      query: FULL_ROLES,
      responses: { 403: { description: "The user may not do this." } },
    }),
    asked(`${user}/roles/{userType}`, "listRolesOfUser", "Roles of a user", ROLE_NAMES, {
      query: FULL_ROLES,
      responses: {
        403: { description: "The user may not do this." },
        404: { description: "No user of that name has an API key." },
      },
    }),
    done(`${group}/assign`, "assignRolesToGroup", "Give roles to a group of tokens", ofGroup, changed),
    done(`${group}/revoke`, "revokeRolesOfGroup", "Take roles from a group of tokens", ofGroup, changed),
    asked("/v1/authz/groups/{groupType}", "listGroups", "The groups that have roles", NAMES),
    asked(`${group}/roles/{groupType}`, "listRolesOfGroup", "Roles of a group", ROLE_NAMES, {
      query: FULL_ROLES,
      responses: { 403: { description: "The user may not do this." } },
    }),
    operation("GET", "/v1/users/own-info", "access", "getOwnInfo", "Who one is, and which roles one has", {
      responses: { 200: { description: "Whoever asks.", schema: OWN_INFO } },
    }),
    asked("/v1/users/db", "listUsers", "The users that were made at run time", z.array(USER), { query: LAST_USE }),
    asked(one, "getUser", "A user", USER, { query: LAST_USE, responses: { 404: NO_ROLE } }),
    done(one, "createUser", "Make a user with an API key", body(NEW_USER_BODY, {}), {
      201: { description: "The key.", schema: API_KEY },
      409: { description: "There is a user of that name." },
    }),
    done(
      one,
      "deleteUser",
      "Delete a user, its key and what it was assigned",
      undefined,
      { 204: DONE, 404: NO_ROLE },
      "DELETE",
    ),
    done(`${one}/rotate-key`, "rotateKey", "Give a user another key", undefined, {
      200: { description: "The key.", schema: API_KEY },
      404: NO_ROLE,
    }),
    done(`${one}/activate`, "activateUser", "Let a user in again", undefined, {
      200: DONE,
      404: NO_ROLE,
      409: { description: "It is active." },
    }),
    done(`${one}/deactivate`, "deactivateUser", "Keep a user out", body(DEACTIVATION_BODY, { revoke_key: false }), {
      200: DONE,
      404: NO_ROLE,
      409: { description: "It is not active." },
    }),
  ];
}
