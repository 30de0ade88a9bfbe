import { expect, it } from "vitest";
import { readAccessBody, readNewPermissions, readPermissions, readRole, readRoleNames } from "./access-bodies.js";

it.each<[string, (body: Buffer) => unknown, object]>([
  ["a role", readRole, { name: "r", permissions: [], scope: "all" }],
  ["permissions", readPermissions, { permissions: [], permission: [] }],
  ["names of roles", (body) => readRoleNames(body, "userType"), { roles: ["r"], userType: "db", usertype: "oidc" }],
])("U1: %s with a member that is not known is refused: rights are not guessed", (_, read, body) => {
  expect(() => read(Buffer.from(JSON.stringify(body)))).toThrow(/unknown member '(scope|permission|usertype)'/);
});

it.each([
  ['{"name":"a","permissions":[],"name":"b"}', "name"],
  ['{"name":"a","permissions":[],"n\\u0061me":"b"}', "name"],
  [
    '{"permissions":[{"action":"read_data","data":{"collection":"A","collection":"*"}}]}',
    "permissions[0].data.collection",
  ],
  ['{"permissions":[{"action":"read_cluster"},[[1,2]],{"action":"a","action":"b"}]}', "permissions[2].action"],
  ['{"permissions":null,"permissions":[]}', "permissions"],
])("U1: %s has a member twice, and is refused", (body, place) => {
  expect(() => readAccessBody(Buffer.from(body), ["name", "permissions"])).toThrow(
    `the body has the member '${place}' twice: leave one out`,
  );
});

it("U1: the same name in different objects is no fault", () => {
  const permissions = ["A", "B"].map((collection) => ({ action: "read_data", data: { collection } }));
  const body = JSON.stringify({
    name: "data",
    permissions: [...permissions, { action: "read_roles", roles: { role: "name" } }],
  });
  expect(readRole(Buffer.from(`${body}{"name":1,"name":2}`)).permissions).toHaveLength(3);
});

it.each([
  ["read_data", "data", "collection", " Mine"],
  ["read_data", "data", "collection", "my class"],
  ["read_collections", "collections", "collection", "9*"],
  ["read_collections", "collections", "collection", "_x"],
  ["create_tenants", "tenants", "collection", "A.*"],
  ["read_nodes", "nodes", "collection", "Ä*"],
  ["read_data", "data", "collection", "A".repeat(256)],
  ["read_roles", "roles", "role", "a b"],
  ["read_roles", "roles", "role", "-*"],
])("U1: %s on %s.%s %j can match nothing, and is refused when it is given, not when it is taken away", (...of) => {
  const [action, kind, member, value] = of;
  const permission = { action, [kind]: { [member]: value } };
  const body = Buffer.from(JSON.stringify({ permissions: [{ action: "read_cluster" }, permission] }));
  expect(() => readNewPermissions(body)).toThrow(`permissions[1].${kind}.${member} `);
  expect(() => readNewPermissions(body)).toThrow("can match nothing");
  expect(() => readRole(Buffer.from(JSON.stringify({ name: "r", permissions: [permission] })))).toThrow(
    "match nothing",
  );
  expect(readPermissions(body)).toHaveLength(2);
});

it.each(["*", "mine", "Mine*", "*_9", "M*1*", "A".repeat(255)])("a collection %j can match something", (collection) => {
  const body = { permissions: [{ action: "read_data", data: { collection } }] };
  expect(readNewPermissions(Buffer.from(JSON.stringify(body)))).toHaveLength(1);
});
