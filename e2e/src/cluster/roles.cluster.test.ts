import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at } from "../http-client.js";
import { lacks } from "../needs.js";
import { rolesSettings, UserClient } from "../testing/roles-server.js";
import { type Cluster, withCluster } from "./cluster.js";
import type { ClusterOptions } from "./cluster-options.js";

const WITHIN_TWO_SECONDS = { timeout: 2_000, interval: 10 };
const SOON = { timeout: 30_000, interval: 100 };

/** The users of the first two gateways. */
function clients(cluster: Cluster) {
  const [first, second] = cluster.gateways;
  if (first === undefined || second === undefined) throw new Error("there are two gateways");
  return { first, second, root: UserClient.of(first.url, "root"), otherRoot: UserClient.of(second.url, "root") };
}

async function withRoles(options: ClusterOptions, test: (cluster: Cluster) => Promise<void>): Promise<void> {
  await withCluster({ gateways: 2, storageNodes: 1, env: rolesSettings(), ...options }, async (cluster) => {
    const { root } = clients(cluster);
    await root.expect(200, "POST", "/v1/schema", { class: "Mine", properties: [{ name: "name", dataType: ["text"] }] });
    await root.expect(200, "POST", "/v1/objects", { class: "Mine", properties: { name: "x" }, vector: [1, 2] });
    await test(cluster);
  });
}

const READER = {
  name: "reader",
  permissions: [
    { action: "read_data", data: { collection: "*" } },
    { action: "read_collections", collections: { collection: "*" } },
  ],
};
const ASSIGNED = { roles: ["reader"], userType: "db" };

async function changesAreKnownEverywhere(options: ClusterOptions): Promise<void> {
  await withRoles(options, async (cluster) => {
    const { first, second, root, otherRoot } = clients(cluster);
    const listed = async (key: string, url: string) => (await new UserClient(url, key).get("/v1/objects")).status;
    await root.expect(201, "POST", "/v1/authz/roles", READER);
    for (let round = 0; round < 5; round++) {
      const [here, there] = round % 2 === 0 ? [root, otherRoot] : [otherRoot, root];
      const [near, far] = round % 2 === 0 ? [first, second] : [second, first];
      const name = `user${round}`;
      const key = String(at((await here.expect(201, "POST", `/v1/users/db/${name}`, {})).json, "apikey"));
      expect(await listed(key, near.url)).toBe(403);
      await expect.poll(() => listed(key, far.url), WITHIN_TWO_SECONDS).toBe(403);
      // Decided on what the other gateway has answered, whatever this one knows.
      await there.expect(200, "POST", `/v1/authz/users/${name}/assign`, ASSIGNED);
      expect(await listed(key, far.url)).toBe(200);
      await expect.poll(() => listed(key, near.url), WITHIN_TWO_SECONDS).toBe(200);
      await here.expect(200, "POST", `/v1/authz/users/${name}/revoke`, ASSIGNED);
      expect(await listed(key, near.url)).toBe(403);
      await expect.poll(() => listed(key, far.url), WITHIN_TWO_SECONDS).toBe(403);
      const fresh = String(at((await there.expect(200, "POST", `/v1/users/db/${name}/rotate-key`)).json, "apikey"));
      expect([await listed(key, far.url), await listed(fresh, far.url)]).toEqual([401, 403]);
      await expect.poll(() => listed(key, near.url), WITHIN_TWO_SECONDS).toBe(401);
      await here.expect(204, "DELETE", `/v1/users/db/${name}`);
      expect(await listed(fresh, near.url)).toBe(401);
      await expect.poll(() => listed(fresh, far.url), WITHIN_TWO_SECONDS).toBe(401);
    }
  });
}

describe("S-roles: roles and users of a cluster", () => {
  it("count at once where they are changed, and at other gateways within two seconds: the embedded store", () =>
    changesAreKnownEverywhere({ etcdMembers: 0, coordinators: 1 }));

  it.skipIf(lacks("etcd"))("… two coordinators on etcd (needs etcd)", () =>
    changesAreKnownEverywhere({ etcdMembers: 1, coordinators: 2 }),
  );

  it("go on as they are known without a coordinator, after a start, too; changes are 503", async () => {
    await withRoles({ etcdMembers: 0, coordinators: 1 }, async (cluster) => {
      const { first, root } = clients(cluster);
      await root.expect(201, "POST", "/v1/authz/roles", READER);
      const key = String(at((await root.expect(201, "POST", "/v1/users/db/ann", {})).json, "apikey"));
      await root.expect(200, "POST", "/v1/authz/users/ann/assign", ASSIGNED);
      for (const coordinator of cluster.coordinators) await coordinator.kill();
      for (let round = 0; round < 2; round++) {
        const ann = new UserClient(first.url, key);
        expect((await ann.get("/v1/objects?class=Mine")).status).toBe(200);
        expect((await ann.send("POST", "/v1/objects", { class: "Mine", vector: [1, 2] })).status).toBe(403);
        expect((await UserClient.of(first.url, "none").get("/v1/objects")).status).toBe(403);
        for (const [method, path, body] of [
          ["POST", "/v1/authz/users/ann/revoke", ASSIGNED],
          ["DELETE", "/v1/authz/roles/reader", undefined],
          ["POST", "/v1/users/db/ann/rotate-key", undefined],
          ["POST", "/v1/users/db/bob", {}],
        ] as const) {
          expect((await root.send(method, path, body)).status, `${method} ${path}`).toBe(503);
        }
        expect((await root.get("/v1/authz/roles")).status).toBe(200);
        await first.kill();
        await first.launch();
      }
    });
  });

  it("count no longer than they may while no coordinator can be reached", async () => {
    const env = rolesSettings({ AUTHORIZATION_RBAC_STALE_SECONDS_MAX: "2" });
    await withRoles({ etcdMembers: 0, coordinators: 1, env }, async (cluster) => {
      const { root } = clients(cluster);
      const [coordinator] = cluster.coordinators;
      const status = async () => (await root.get("/v1/objects")).status;
      expect(await status()).toBe(200);
      await coordinator?.kill();
      expect(await status()).toBe(200);
      await expect.poll(status, SOON).toBe(503);
      expect((await root.get("/v1/objects")).text).toContain("AUTHORIZATION_RBAC_STALE_SECONDS_MAX");
      expect((await root.get("/v1/.well-known/live")).status).toBe(200);
      await coordinator?.launch();
      await expect.poll(status, SOON).toBe(200);
      // It holds its connections and says nothing: a gateway finds out after nine seconds that it is lost.
      coordinator?.pause();
      const silentMs = performance.now();
      await expect.poll(status, { timeout: 6_000, interval: 50 }).toBe(503);
      expect(performance.now() - silentMs).toBeGreaterThan(1_000);
      coordinator?.resume();
      await expect.poll(status, SOON).toBe(200);
    });
  });

  it("of a store that was put back are told loudly, as what was revoked since is there again", async () => {
    await withRoles({ etcdMembers: 0, coordinators: 1 }, async (cluster) => {
      const { first, second, root } = clients(cluster);
      const [coordinator] = cluster.coordinators;
      if (coordinator === undefined) throw new Error("there is a coordinator");
      await root.expect(201, "POST", "/v1/authz/roles", READER);
      await root.expect(200, "POST", "/v1/authz/users/none/assign", ASSIGNED);
      const file = join(cluster.folder, "backup");
      await coordinator.stop();
      cpSync(coordinator.dataPath, file, { recursive: true });
      await coordinator.launch();
      const revoked = async () => (await root.send("POST", "/v1/authz/users/none/revoke", ASSIGNED)).status;
      await expect.poll(revoked, SOON).toBe(200);
      const allowed = async (url: string) => (await UserClient.of(url, "none").get("/v1/schema")).status;
      for (const { url } of [first, second]) await expect.poll(() => allowed(url), SOON).toBe(403);
      for (const gateway of [first, second]) expect(gateway.log()).not.toContain("older than those");
      await coordinator.stop();
      rmSync(coordinator.dataPath, { recursive: true });
      cpSync(file, coordinator.dataPath, { recursive: true });
      await coordinator.launch();
      for (const gateway of [first, second]) {
        await expect.poll(() => gateway.log(), SOON).toContain("roles and users are older than those that were known");
        await expect.poll(() => allowed(gateway.url), SOON).toBe(200);
      }
    });
  });
});
