import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at } from "../http-client.js";
import { ACCOUNTS, GuardedServer } from "../testing/guarded-server.js";
import { makeIssuerKey } from "../testing/oidc-issuer.js";

let guarded: GuardedServer;

beforeAll(async () => {
  guarded = await GuardedServer.start(makeIssuerKey("first"), {
    AUTHORIZATION_RBAC_ENABLED: "true",
    AUTHORIZATION_RBAC_ROOT_USERS: ACCOUNTS.alice.email,
    AUTHORIZATION_RBAC_READONLY_GROUPS: "watchers",
  });
});
afterAll(() => guarded?.[Symbol.asyncDispose]());

/** The headers of somebody whose token has these groups. */
async function headersWith(...groups: readonly string[]) {
  guarded.issuer.accounts.set("mallory", { ...ACCOUNTS.mallory, groups });
  return guarded.headersOf("mallory");
}

describe("S-roles: users and groups of an issuer", () => {
  it("get roles by the groups of their tokens, also such with slashes in their names", async () => {
    const { http } = guarded.server;
    const root = await guarded.headersOf("alice");
    const role = { name: "editor", permissions: [{ action: "create_collections", collections: { collection: "*" } }] };
    expect((await http.post("/v1/authz/roles", role, root)).status).toBe(201);
    const group = encodeURIComponent("/teams/ä b/ops");
    const body = { roles: ["editor", "viewer"], groupType: "oidc" };
    const stranger = await headersWith("g1", "g2");
    expect((await http.get("/v1/schema", stranger)).status).toBe(403);
    expect((await http.get("/v1/schema", stranger)).text).toContain(
      "authorization, forbidden action: user 'mallory@example.com' (of groups 'g1', 'g2') has insufficient permissions to read_collections [collections{collection: *}]",
    );
    const member = await headersWith("g1", "/teams/ä b/ops");
    expect((await http.post(`/v1/authz/groups/${group}/assign`, body, root)).status).toBe(200);
    expect((await http.get("/v1/schema", member)).status).toBe(200);
    expect((await http.post("/v1/schema", { class: "Made" }, member)).status).toBe(200);
    expect((await http.get("/v1/schema", stranger)).status).toBe(403);
    const info = (await http.get("/v1/users/own-info", member)).json;
    expect(at(info, "groups")).toEqual(["g1", "/teams/ä b/ops"]);
    expect((at(info, "roles") as object[]).map((one) => at(one, "name")).sort()).toEqual(["editor", "viewer"]);
    expect((await http.get("/v1/authz/groups/oidc", root)).json).toEqual(["/teams/ä b/ops"]);
    const given = [{ groupId: "/teams/ä b/ops", groupType: "oidc" }];
    expect((await http.get("/v1/authz/roles/editor/group-assignments", root)).json).toEqual(given);
    const listed = await http.get(`/v1/authz/groups/${group}/roles/oidc?includeFullRoles=true`, root);
    expect(at(listed.json, 0, "permissions", 0, "action")).toBe("create_collections");
    expect((await http.post(`/v1/authz/groups/${group}/revoke`, body, root)).status).toBe(200);
    expect((await http.get("/v1/schema", member)).status).toBe(403);
  });

  it("have what settings give their groups, and what is assigned to their name as a user of an issuer", async () => {
    const { http } = guarded.server;
    const root = await guarded.headersOf("alice");
    const watcher = await headersWith("watchers");
    expect((await http.get("/v1/schema", watcher)).status).toBe(200);
    expect((await http.get("/v1/authz/roles", watcher)).status).toBe(200);
    expect((await http.post("/v1/schema", { class: "Never" }, watcher)).status).toBe(403);
    const name = encodeURIComponent(ACCOUNTS.rita.email);
    const rita = await guarded.headersOf("rita");
    const body = { roles: ["viewer"], userType: "oidc" };
    expect((await http.get("/v1/schema", rita)).status).toBe(403);
    expect((await http.post(`/v1/authz/users/${name}/assign`, { ...body, userType: "db" }, root)).status).toBe(404);
    expect((await http.post(`/v1/authz/users/${name}/assign`, body, root)).status).toBe(200);
    expect((await http.get("/v1/schema", rita)).status).toBe(200);
    expect((await http.get(`/v1/authz/users/${name}/roles/oidc`, rita)).json).toEqual([{ name: "viewer" }]);
    expect((await http.get("/v1/authz/roles/viewer/user-assignments", root)).json).toEqual([
      { userId: ACCOUNTS.rita.email, userType: "oidc" },
    ]);
  });

  it("users made at run time are off unless they are switched on", async () => {
    const { http } = guarded.server;
    const root = await guarded.headersOf("alice");
    expect((await http.post("/v1/users/db/ann", {}, root)).status).toBe(501);
    expect((await http.get("/v1/users/db", root)).status).toBe(501);
  });
});
