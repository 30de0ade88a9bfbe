import {
  ACTIONS,
  describeValue,
  isUncheckedObject,
  type Permission,
  parseNewPermissions,
  parsePermissions,
  type Role,
  ShoalError,
} from "@shoal/model";
import * as z from "zod";
import { doubledMember } from "../json/doubled-member.js";
import { parseJson } from "../json/parse-json.js";

/** A role has 200 permissions of a few names each. */
const BODY_BYTES_MAX = 512 * 1024;

/** For the document; what is read is checked by `parsePermission`, which names the place. */
export const PERMISSION_BODY = z
  .looseObject({ action: z.enum(Object.keys(ACTIONS) as [string, ...string[]]) })
  .describe("The action, and under the name of its kind of resource what it is allowed on: names or patterns with `*`.")
  .meta({ id: "Permission", additionalProperties: { type: "object" } });

export const ROLE_BODY = z
  .looseObject({ name: z.string(), permissions: z.array(PERMISSION_BODY) })
  .meta({ id: "Role" });

export const PERMISSIONS_BODY = z.looseObject({ permissions: z.array(PERMISSION_BODY) });

export const USER_ROLES_BODY = z.looseObject({
  roles: z.array(z.string()),
  userType: z.enum(["db", "oidc"]).optional().describe("Who vouches for the name;"),
});

export const GROUP_ROLES_BODY = z.looseObject({ roles: z.array(z.string()), groupType: z.enum(["oidc"]).optional() });

export const NEW_USER_BODY = z.looseObject({
  import: z.boolean().optional().describe("Not built: 501."),
});

export const DEACTIVATION_BODY = z.looseObject({
  revoke_key: z.boolean().optional().describe("Whether the key is no good any more, also after it is activated again."),
});

type Members = Readonly<Record<string, unknown>>;

/**
 * The body as an object; an empty one counts as `{}`. Fails with `invalid` on members that are not known, and on those that are
 * there twice, at any depth: of two permissions the one that counts may be the other one.
 */
export function readAccessBody(body: Buffer, known: readonly string[]): Members {
  if (body.length === 0) return {};
  if (body.length > BODY_BYTES_MAX) {
    throw new ShoalError("tooLarge", `the body has ${body.length} bytes, at most ${BODY_BYTES_MAX} are allowed here`);
  }
  const value = parseJson(body);
  if (value === null) return {};
  if (!isUncheckedObject(value))
    throw new ShoalError("malformed", `the body must be an object, got ${describeValue(value)}`);
  refuseDoubledMembers(body);
  for (const [name, member] of Object.entries(value)) {
    if (known.includes(name) || member === null) continue;
    throw new ShoalError(
      "invalid",
      `the body has an unknown member '${name.slice(0, 100)}', there are ${known.join(", ")}`,
    );
  }
  return value;
}

export function refuseDoubledMembers(body: Buffer): void {
  const doubled = doubledMember(body);
  if (doubled === undefined) return;
  throw new ShoalError("invalid", `the body has the member '${doubled.slice(0, 200)}' twice: leave one out`);
}

export function readRole(body: Buffer): Role {
  const { name, permissions } = readAccessBody(body, ["name", "permissions"]);
  if (typeof name !== "string") throw new ShoalError("invalid", "name must be the name of the role");
  return { name, permissions: parseNewPermissions(permissions ?? [], "permissions") };
}

/** To be given to a role. */
export function readNewPermissions(body: Buffer): readonly Permission[] {
  const { permissions } = readAccessBody(body, ["permissions"]);
  return parseNewPermissions(permissions, "permissions");
}

/** To be taken from a role: it may have some from before they were checked. */
export function readPermissions(body: Buffer): readonly Permission[] {
  const { permissions } = readAccessBody(body, ["permissions"]);
  return parsePermissions(permissions, "permissions");
}

/** Names of roles; `type` is the member that says of which type the user or group is. */
export function readRoleNames(
  body: Buffer,
  type: "userType" | "groupType",
): { readonly roles: readonly string[]; readonly type: unknown } {
  const members = readAccessBody(body, ["roles", type]);
  const { roles } = members;
  if (!Array.isArray(roles) || roles.length === 0 || !roles.every((role) => typeof role === "string")) {
    throw new ShoalError("invalid", "roles must be a list with the name of at least one role");
  }
  return { roles, type: members[type] ?? undefined };
}

/** A truth that may be missing. */
export function readTruth(members: Members, name: string): boolean {
  const value = members[name] ?? false;
  if (typeof value !== "boolean")
    throw new ShoalError("invalid", `${name} must be true or false, got ${describeValue(value)}`);
  return value;
}
