import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf } from "../http-client.js";
import { runServer, type ServerProcess } from "../server-process.js";
import { keyOf, rolesSettings, startRolesServer, UserClient } from "../testing/roles-server.js";

let server: ServerProcess;
let root: UserClient;
let admin: UserClient;

beforeAll(async () => {
  server = await startRolesServer();
  root = UserClient.of(server.url, "root");
  admin = UserClient.of(server.url, "admin");
});
afterAll(() => server?.[Symbol.asyncDispose]());

const data = (action: string, collection: string) => ({ action, data: { collection } });
const roles = (action: string, role: string, scope?: string) => ({
  action,
  roles: { role, ...(scope === undefined ? {} : { scope }) },
});
const users = (action: string, name: string) => ({ action, users: { users: name } });

let made = 0;

/** A new user with a role of these permissions. */
async function userWith(...permissions: readonly object[]): Promise<UserClient & { readonly username?: string }> {
  const name = `user${made++}`;
  await root.expect(201, "POST", "/v1/authz/roles", { name, permissions });
  const { json } = await root.expect(201, "POST", `/v1/users/db/${name}`, {});
  await root.expect(200, "POST", `/v1/authz/users/${name}/assign`, { roles: [name], userType: "db" });
  return new UserClient(server.url, String(at(json, "apikey")));
}

describe("S-roles: nobody gets more than he has", () => {
  it("by making or changing a role", async () => {
    const manager = await userWith(
      data("read_data", "A*"),
      ...["create_roles", "read_roles", "update_roles", "delete_roles"].map((action) => roles(action, "team-*")),
    );
    const create = (name: string, ...permissions: readonly object[]) =>
      manager.send("POST", "/v1/authz/roles", { name, permissions });
    expect((await create("team-a", data("read_data", "Ab"))).status).toBe(201);
    for (const more of [
      data("read_data", "*"),
      data("read_data", "*A"),
      data("update_data", "Ab"),
      roles("create_roles", "*"),
      roles("create_roles", "team-*", "all"),
      { action: "read_cluster" },
    ]) {
      expect((await create("team-b", more)).status, JSON.stringify(more)).toBe(403);
      const added = await manager.send("POST", "/v1/authz/roles/team-a/add-permissions", { permissions: [more] });
      expect(added.status, JSON.stringify(more)).toBe(403);
    }
    expect((await create("other", data("read_data", "Ab"))).status).toBe(403);
    // A role of others that allows more is not weakened either.
    await root.expect(201, "POST", "/v1/authz/roles", { name: "team-strong", permissions: [data("delete_data", "*")] });
    const weaker = { permissions: [data("delete_data", "*")] };
    expect((await manager.send("POST", "/v1/authz/roles/team-strong/remove-permissions", weaker)).status).toBe(403);
    expect((await manager.send("DELETE", "/v1/authz/roles/team-strong")).status).toBe(403);
    expect((await manager.get("/v1/authz/roles/team-strong")).status).toBe(403);
    const seen = (await manager.get("/v1/authz/roles")).json as object[];
    expect(seen.map((role) => at(role, "name")).sort()).toEqual(["team-a", `user${made - 1}`].sort());
    expect((await manager.send("DELETE", "/v1/authz/roles/team-a")).status).toBe(204);
    // Who may manage roles of any scope may; that right itself is given by whoever has it.
    const chief = await userWith(roles("create_roles", "team-*", "all"));
    expect(
      (await chief.send("POST", "/v1/authz/roles", { name: "team-c", permissions: [data("delete_data", "*")] })).status,
    ).toBe(201);
  });

  it("by giving or taking roles", async () => {
    const giver = await userWith(users("assign_and_revoke_users", "*"), data("read_data", "A"));
    const assign = (name: string, role: string, how = "assign", userType = "db") =>
      giver.send("POST", `/v1/authz/users/${name}/${how}`, { roles: [role], userType });
    for (const role of ["admin", "viewer", "reader"]) {
      for (const [name, type] of [
        [`user${made - 1}`, "db"],
        ["none", "db"],
        ["somebody", "oidc"],
      ] as const) {
        expect((await assign(name, role, "assign", type)).status, `${role} ${name}`).toBe(403);
      }
    }
    expect((await assign("admin", "admin", "revoke")).status).toBe(403);
    expect(
      (await giver.send("POST", "/v1/authz/groups/g/assign", { roles: ["viewer"], groupType: "oidc" })).status,
    ).toBe(403);
    await root.expect(201, "POST", "/v1/authz/roles", { name: "small", permissions: [data("read_data", "A")] });
    expect((await assign("none", "small")).status).toBe(200);
    expect((await assign("none", "small", "revoke")).status).toBe(200);
    // One that may not be given is not given beside one that may.
    const both = await giver.send("POST", "/v1/authz/users/none/assign", { roles: ["small", "admin"], userType: "db" });
    expect(both.status).toBe(403);
    expect((await root.get("/v1/authz/users/none/roles/db")).json).toEqual([]);
  });

  it("by becoming a user who has more", async () => {
    const keeper = await userWith(
      ...["create_users", "read_users", "update_users", "delete_users"].map((action) => users(action, "*")),
      users("assign_and_revoke_users", "*"),
    );
    await root.expect(201, "POST", "/v1/users/db/strong", {});
    await root.expect(200, "POST", "/v1/authz/users/strong/assign", { roles: ["admin"], userType: "db" });
    await keeper.expect(201, "POST", "/v1/users/db/weak", {});
    for (const way of ["rotate-key", "activate", "deactivate"]) {
      const answer = await keeper.send("POST", `/v1/users/db/strong/${way}`, way === "deactivate" ? {} : undefined);
      expect([way, answer.status]).toEqual([way, 403]);
      expect(errorOf(answer)).toContain("this user is allowed more than you are");
    }
    expect((await keeper.send("DELETE", "/v1/users/db/strong")).status).toBe(403);
    expect((await keeper.send("POST", "/v1/users/db/root", {})).status).toBe(409);
    expect((await keeper.send("POST", "/v1/users/db/weak/rotate-key")).status).toBe(200);
    // A key of the settings is not made here, nor given to a user of that name.
    for (const name of ["admin", "viewer", "none"]) {
      expect((await keeper.send("POST", `/v1/users/db/${name}`, {})).status, name).toBe(409);
      expect((await root.send("POST", `/v1/users/db/${name}/rotate-key`)).status, name).toBe(422);
    }
  });

  it("by a role or a user that is made again under the name of one that had more", async () => {
    await root.expect(201, "POST", "/v1/authz/roles", { name: "again", permissions: [] });
    await root.expect(200, "POST", "/v1/authz/users/none/assign", { roles: ["again"], userType: "db" });
    await root.expect(204, "DELETE", "/v1/authz/roles/again");
    await root.expect(201, "POST", "/v1/authz/roles", { name: "again", permissions: [data("delete_data", "*")] });
    expect((await root.get("/v1/authz/users/none/roles/db")).json).toEqual([]);
    expect((await root.get("/v1/authz/roles/again/user-assignments")).json).toEqual([]);
    await root.expect(201, "POST", "/v1/users/db/twice", {});
    await root.expect(200, "POST", "/v1/authz/users/twice/assign", { roles: ["admin"], userType: "db" });
    await root.expect(204, "DELETE", "/v1/users/db/twice");
    const { json } = await root.expect(201, "POST", "/v1/users/db/twice", {});
    const twice = new UserClient(server.url, String(at(json, "apikey")));
    expect((await twice.get("/v1/users/own-info")).json).toEqual({ username: "twice", roles: [], groups: [] });
    expect((await twice.get("/v1/schema")).status).toBe(403);
  });

  it("by a name: of another kind of user, of a built-in role, of what settings give", async () => {
    await root.expect(200, "POST", "/v1/authz/users/none/assign", { roles: ["admin"], userType: "oidc" });
    expect((await UserClient.of(server.url, "none").get("/v1/schema")).status).toBe(403);
    await root.expect(200, "POST", "/v1/authz/groups/anonymous/assign", { roles: ["admin"], groupType: "oidc" });
    expect((await UserClient.of(server.url, "anonymous").get("/v1/schema")).status).toBe(403);
    expect((await root.send("POST", "/v1/users/db/anonymous", {})).status).toBe(422);
    for (const role of ["admin", "viewer", "root", "read-only"]) {
      expect((await root.send("POST", "/v1/authz/roles", { name: role, permissions: [] })).status).toBe(400);
      expect((await root.send("DELETE", `/v1/authz/roles/${role}`)).status).toBe(400);
      const none = { permissions: [] };
      expect((await root.send("POST", `/v1/authz/roles/${role}/add-permissions`, none)).status).toBe(400);
      expect((await root.send("POST", `/v1/authz/roles/${role}/remove-permissions`, none)).status).toBe(400);
    }
    for (const role of ["root", "read-only"]) {
      const given = await admin.send("POST", "/v1/authz/users/none/assign", { roles: [role], userType: "db" });
      expect(given.status).toBe(400);
    }
    expect((await admin.send("POST", "/v1/authz/users/none/assign", { roles: ["admin"] })).status).toBe(422);
  });

  it("by locking others out for good: root is always there, and nobody removes himself by mistake", async () => {
    const { json } = await root.expect(201, "POST", "/v1/users/db/self", {});
    await root.expect(200, "POST", "/v1/authz/users/self/assign", { roles: ["admin"], userType: "db" });
    const self = new UserClient(server.url, String(at(json, "apikey")));
    expect((await self.send("DELETE", "/v1/users/db/self")).status).toBe(422);
    expect((await self.send("POST", "/v1/users/db/self/deactivate", {})).status).toBe(422);
    expect((await self.send("POST", "/v1/authz/users/admin/revoke", { roles: ["admin"], userType: "db" })).status).toBe(
      200,
    );
    expect((await admin.get("/v1/schema")).status).toBe(403);
    expect((await self.send("POST", "/v1/authz/users/self/revoke", { roles: ["admin"], userType: "db" })).status).toBe(
      200,
    );
    expect((await self.get("/v1/authz/roles")).status).toBe(403);
    await root.expect(200, "POST", "/v1/authz/users/admin/assign", { roles: ["admin"], userType: "db" });
    expect((await admin.get("/v1/schema")).status).toBe(200);
  });
});

describe("S-roles: users made at run time", () => {
  it("live from their creation to their deletion, and each change counts at once", async () => {
    const created = await root.expect(201, "POST", "/v1/users/db/ann%2Fb", {});
    const key = String(at(created.json, "apikey"));
    expect(created.headers.get("cache-control")).toBe("no-store");
    expect(Buffer.from(key, "base64url").length).toBe(32);
    const ann = (with_ = key) => new UserClient(server.url, with_).get("/v1/users/own-info");
    expect((await ann()).json).toEqual({ username: "ann/b", roles: [], groups: [] });
    await root.expect(200, "POST", "/v1/authz/users/ann%2Fb/assign", { roles: ["viewer"], userType: "db" });
    expect(at((await ann()).json, "roles", 0, "name")).toBe("viewer");
    const shown = (await root.get("/v1/users/db/ann%2Fb")).json;
    expect(shown).toMatchObject({ userId: "ann/b", dbUserType: "db_user", active: true, roles: ["viewer"] });
    expect(JSON.stringify(shown)).not.toContain(key);
    expect((await root.send("POST", "/v1/users/db/ann%2Fb", {})).status).toBe(409);
    expect((await root.send("POST", "/v1/users/db/ann%2Fb/activate")).status).toBe(409);
    const rotated = await root.expect(200, "POST", "/v1/users/db/ann%2Fb/rotate-key");
    const fresh = String(at(rotated.json, "apikey"));
    const old = await ann();
    expect([old.status, errorOf(old)]).toEqual([401, "unauthorized: invalid api key"]);
    expect((await ann(fresh)).status).toBe(200);
    await root.expect(200, "POST", "/v1/users/db/ann%2Fb/deactivate");
    expect((await ann(fresh)).status).toBe(401);
    expect((await root.send("POST", "/v1/users/db/ann%2Fb/deactivate", {})).status).toBe(409);
    await root.expect(200, "POST", "/v1/users/db/ann%2Fb/activate");
    expect((await ann(fresh)).status).toBe(200);
    await root.expect(200, "POST", "/v1/users/db/ann%2Fb/deactivate", { revoke_key: true });
    await root.expect(200, "POST", "/v1/users/db/ann%2Fb/activate");
    expect((await ann(fresh)).status).toBe(401);
    await root.expect(204, "DELETE", "/v1/users/db/ann%2Fb");
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/rotate-key"],
      ["POST", "/activate"],
    ]) {
      expect((await root.send(String(method), `/v1/users/db/ann%2Fb${path}`)).status).toBe(404);
    }
    expect(server.output).not.toContain(key);
    expect(server.output).not.toContain(fresh);
  });

  it("refuse what is not built and what cannot be", async () => {
    expect((await root.send("POST", "/v1/users/db/imp", { import: true })).status).toBe(501);
    expect((await root.send("POST", "/v1/users/db/imp", { createTime: "x" })).status).toBe(422);
    expect((await root.get("/v1/users/db?includeLastUsedTime=true")).status).toBe(422);
    expect((await root.get("/v1/users/db?includeLastUsedTime=false")).status).toBe(200);
    for (const name of ["-a", "a%20b", "a%00", "%C3%A4", "a".repeat(129), "anonymous"]) {
      expect((await root.send("POST", `/v1/users/db/${name}`, {})).status, name).toBe(422);
    }
    const deep = `${"[".repeat(300)}${"]".repeat(300)}`;
    for (const [body, status] of [
      ["{", 400],
      ["[]", 400],
      ['"x"', 400],
      [deep, 400],
      [`{"name":"${"x".repeat(600_000)}"}`, 413],
    ] as const) {
      expect((await root.send("POST", "/v1/authz/roles", body)).status, body.slice(0, 20)).toBe(status);
    }
    const many = Array.from({ length: 201 }, (_, at) => data("read_data", `A${at}`));
    expect((await root.send("POST", "/v1/authz/roles", { name: "many", permissions: many })).status).toBe(422);
    const starred = [{ action: "read_data", data: { collection: "*a".repeat(17) } }];
    await root.expect(422, "POST", "/v1/authz/roles", { name: "starred", permissions: starred });
    const star = { action: "read_data", data: { collection: `${"*a".repeat(16)}` } };
    await root.expect(201, "POST", "/v1/authz/roles", { name: "stars", permissions: [star] });
    await root.expect(200, "POST", "/v1/authz/users/none/assign", { roles: ["stars"], userType: "db" });
    expect((await UserClient.of(server.url, "none").get(`/v1/objects?class=${"a".repeat(250)}b`)).status).toBe(403);
  });

  it("differ from those that are not there, who have no roles; of users of an issuer and of groups that is not known", async () => {
    const viewer = { roles: ["viewer"], userType: "db" };
    const at404 = async (method: string, path: string, body?: unknown) => {
      const answer = await root.send(method, `/v1/authz/users/nobody${path}`, body);
      expect([answer.status, errorOf(answer)], path).toEqual([
        404,
        expect.stringContaining("user 'nobody' does not exist"),
      ]);
    };
    await at404("GET", "/roles/db");
    await at404("GET", "/roles/db?includeFullRoles=true");
    await at404("POST", "/assign", viewer);
    await at404("POST", "/revoke", viewer);
    // Whoever may not ask about users is not told who there is.
    const none = UserClient.of(server.url, "none");
    for (const name of ["nobody", "admin"]) {
      expect((await none.get(`/v1/authz/users/${name}/roles/db`)).status, name).toBe(403);
    }
    expect((await root.get("/v1/authz/users/nobody/roles/oidc")).json).toEqual([]);
    expect((await root.get("/v1/authz/groups/nobody/roles/oidc")).json).toEqual([]);
    expect((await root.get("/v1/authz/users/root/roles/db")).json).toEqual([{ name: "root" }]);
    await root.expect(201, "POST", "/v1/users/db/without", {});
    expect((await root.get("/v1/authz/users/without/roles/db")).json).toEqual([]);
    await root.expect(200, "POST", "/v1/authz/users/without/revoke", viewer);
    await root.expect(204, "DELETE", "/v1/users/db/without");
    expect((await root.get("/v1/authz/users/without/roles/db")).status).toBe(404);
  });

  it("and roles are there after a start, and nothing of them is in the log", async () => {
    const { json } = await root.expect(201, "POST", "/v1/users/db/stays", {});
    const stays = new UserClient(server.url, String(at(json, "apikey")));
    await root.expect(200, "POST", "/v1/authz/users/stays/assign", { roles: ["reader"], userType: "db" });
    const before = (await root.get("/v1/authz/roles")).json;
    await server.kill();
    await server.launch();
    expect((await root.get("/v1/authz/roles")).json).toEqual(before);
    expect((await stays.get("/v1/schema")).status).toBe(200);
    expect((await stays.get("/v1/nodes")).status).toBe(403);
    expect(server.output).not.toContain(String(at(json, "apikey")));
    expect(server.output).not.toContain(keyOf("root"));
  });
});

it("S-roles: settings that let nobody in, or contradict each other, stop the start", async () => {
  const settings = { PORT: "0", PERSISTENCE_DATA_PATH: "/nowhere", ...rolesSettings() };
  for (const [change, text] of [
    [{ AUTHORIZATION_RBAC_ROOT_USERS: "" }, "nobody could give the first role"],
    [{ AUTHORIZATION_ADMINLIST_ENABLED: "true", AUTHORIZATION_ADMINLIST_USERS: "x" }, "exclude each other"],
    [
      { AUTHENTICATION_APIKEY_ENABLED: "false", AUTHENTICATION_DB_USERS_ENABLED: "false" },
      "everybody is anonymous, who has no role",
    ],
    [{ AUTHORIZATION_RBAC_ROOT_USERS: "anonymous" }, "anonymous cannot have the role root"],
    [{ AUTHORIZATION_ENABLE_RBAC: "false" }, "say different things"],
  ] as const) {
    const { code, stdout, stderr } = await runServer({ ...settings, ...change });
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain(text);
  }
});
