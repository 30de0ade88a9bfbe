import { expect, it } from "vitest";
import { readPermissions, readRole, readRoleNames } from "./access-bodies.js";

it.each<[string, (body: Buffer) => unknown, object]>([
  ["a role", readRole, { name: "r", permissions: [], scope: "all" }],
  ["permissions", readPermissions, { permissions: [], permission: [] }],
  ["names of roles", (body) => readRoleNames(body, "userType"), { roles: ["r"], userType: "db", usertype: "oidc" }],
])("U1: %s with a member that is not known is refused: rights are not guessed", (_, read, body) => {
  expect(() => read(Buffer.from(JSON.stringify(body)))).toThrow(/unknown member '(scope|permission|usertype)'/);
});
