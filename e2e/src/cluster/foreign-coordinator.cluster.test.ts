import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { at } from "../http-client.js";
import { importObjects } from "../import-objects.js";
import { runServer, ServerProcess } from "../server-process.js";
import { rolesSettings, UserClient } from "../testing/roles-server.js";
import { withCluster } from "./cluster.js";

const OBJECTS = 30;
const CARS = Array.from({ length: OBJECTS }, (_, n) => ({ class: "Car", vector: [n + 1, 1] }));
const classBody = (name: string) => ({
  class: name,
  vectorizer: "none",
  properties: [{ name: "n", dataType: ["int"] }],
  shardingConfig: { desiredCount: 3 },
});

describe("F4: the schema's store is lost", () => {
  it("a coordinator on an empty folder is refused, also after restarts, until the schema is brought back", async () => {
    await withCluster({ gateways: 2, storageNodes: 2, etcdMembers: 0 }, async (cluster) => {
      const { http } = cluster;
      for (const name of ["Former", "Car", "Gone"]) {
        expect((await http.post("/v1/schema", classBody(name))).status).toBe(200);
      }
      // What is over before the loss does not come back as something that is pending.
      expect((await http.delete("/v1/schema/Former")).status).toBe(200);
      await importObjects(http, CARS);
      const coordinator = cluster.member("coordinator-0");
      await coordinator.stop();
      await rename(coordinator.dataPath, `${coordinator.dataPath}-lost`);
      await mkdir(coordinator.dataPath);
      await coordinator.launch();

      const refused = async () => {
        const metrics = [...cluster.gateways, ...cluster.storageNodes].map((one) =>
          one.metric("shoal_foreign_coordinator"),
        );
        return Promise.all(metrics);
      };
      await expect.poll(refused, { timeout: 20_000 }).toEqual([1, 1, 1, 1]);
      await Promise.all([cluster.member("gateway-0").restart(), cluster.member("storage-0").kill()]);
      cluster.member("storage-0").spawn();
      await expect.poll(async () => counted(cluster.gateways[0]?.http), { timeout: 20_000 }).toBe(OBJECTS);
      for (const gateway of cluster.gateways) {
        // What is known goes on; nothing is made in the other cluster.
        await expect.poll(() => counted(gateway.http), { timeout: 20_000 }).toBe(OBJECTS);
        expect((await gateway.http.post("/v1/schema", classBody("Foreign"))).status).toBe(503);
        expect((await gateway.http.delete("/v1/schema/Gone")).status).toBe(503);
        const unseen = await gateway.http.post("/v1/objects", { class: "Unseen", vector: [1, 2] });
        expect(unseen.status, unseen.text).toBe(503);
      }
      await expect.poll(refused, { timeout: 20_000 }).toEqual([1, 1, 1, 1]);

      const addresses = cluster.coordinators.map(({ plan }) => plan.rpcAddress).join();
      const folders = [...cluster.gateways, ...cluster.storageNodes].map(({ dataPath }) => dataPath);
      const restore = () =>
        runServer({ COORDINATOR_ADDRESSES: addresses }, ["cluster", "restore-schema", "--from", ...folders]);
      const restored = await restore();
      expect([restored.code, restored.stdout], restored.stderr).toEqual([
        0,
        expect.stringContaining("classes: Car, Gone"),
      ]);
      expect(await restore()).toMatchObject({ code: 1, stderr: expect.stringContaining("has 2 classes") });
      await expect.poll(refused, { timeout: 20_000 }).toEqual([0, 0, 0, 0]);
      await cluster.reached();
      await expect.poll(async () => (await http.delete("/v1/schema/Gone")).status, { timeout: 20_000 }).toBe(200);
      for (const name of ["Later", "Former"]) {
        expect((await http.post("/v1/schema", classBody(name))).status).toBe(200);
      }
      expect(await counted(http)).toBe(OBJECTS);
    });
  });

  it("copies are in sync and fail over after their configurations were brought back, too", async () => {
    await withCluster({ gateways: 1, storageNodes: 3, etcdMembers: 0 }, async (cluster) => {
      const [gateway] = cluster.gateways;
      if (gateway === undefined) throw new Error("there is one gateway");
      const { http } = gateway;
      const car = { ...classBody("Car"), replicationConfig: { factor: 3 } };
      expect((await http.post("/v1/schema", car)).status).toBe(200);
      await importObjects(http, CARS);
      // Nobody is what the class was made with.
      const inSync = async () => (await copyStates(http)).filter((state) => state === "IN_SYNC").length;
      await cluster.member("storage-0").kill();
      for (const car of CARS) await expect.poll(() => statusOf(http, car), { timeout: 20_000 }).toBe(200);
      cluster.member("storage-0").spawn();
      await expect.poll(inSync, { timeout: 30_000 }).toBe(9);
      const processes = [...cluster.storageNodes, ...cluster.gateways];
      await Promise.all(processes.map((one) => one.stop()));
      const coordinator = cluster.member("coordinator-0");
      await coordinator.stop();
      await rename(coordinator.dataPath, `${coordinator.dataPath}-lost`);
      await mkdir(coordinator.dataPath);
      await coordinator.launch();
      const addresses = cluster.coordinators.map(({ plan }) => plan.rpcAddress).join();
      const restored = await runServer({ COORDINATOR_ADDRESSES: addresses }, [
        ...["cluster", "restore-schema", "--from"],
        ...processes.map(({ dataPath }) => dataPath),
      ]);
      expect([restored.code, restored.stdout], restored.stderr).toEqual([
        0,
        expect.stringMatching(/who holds the copies of \d+ shards is known to the store\n$/),
      ]);
      for (const one of processes) one.spawn();
      await cluster.reached();
      await expect.poll(inSync, { timeout: 30_000 }).toBe(9);
      expect(await counted(http)).toBe(2 * OBJECTS);
      await cluster.member("storage-1").kill();
      for (const car of CARS) await expect.poll(() => statusOf(http, car), { timeout: 20_000 }).toBe(200);
      await expect.poll(async () => counted(http), { timeout: 20_000 }).toBe(3 * OBJECTS);
    });
  });

  it("the one process does not start without the schema of its data, which is brought back from its folder", async () => {
    await using server = await ServerProcess.start();
    expect((await server.http.post("/v1/schema", classBody("Car"))).status).toBe(200);
    await importObjects(server.http, CARS);
    await server.stop();
    const { dataPath } = server;
    await rename(join(dataPath, "schema"), join(dataPath, "schema-lost"));
    const refused = await runServer({ PERSISTENCE_DATA_PATH: dataPath, PORT: "0" });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("restore-schema --data-path") });
    const restored = await runServer({}, ["cluster", "restore-schema", "--data-path", dataPath, "--from", dataPath]);
    expect([restored.code, restored.stdout], restored.stderr).toEqual([0, expect.stringContaining("classes: Car")]);
    await server.launch();
    await expect.poll(() => counted(server.http), { timeout: 20_000 }).toBe(OBJECTS);
  });
});

describe("S-roles: with the schema's store roles and users are lost", () => {
  it("and come back with it, from what the gateways know", async () => {
    await withCluster({ gateways: 2, storageNodes: 1, etcdMembers: 0, env: rolesSettings() }, async (cluster) => {
      const [first, second] = cluster.gateways;
      if (first === undefined || second === undefined) throw new Error("there are two gateways");
      const root = UserClient.of(first.url, "root");
      await root.expect(200, "POST", "/v1/schema", { class: "Mine", properties: [{ name: "n", dataType: ["int"] }] });
      const ann = await withUser(root);
      const coordinator = cluster.member("coordinator-0");
      await coordinator.stop();
      await rename(coordinator.dataPath, `${coordinator.dataPath}-lost`);
      await mkdir(coordinator.dataPath);
      await coordinator.launch();
      // The empty store is not believed.
      await expect.poll(() => second.metric("shoal_foreign_coordinator"), { timeout: 20_000 }).toBe(1);
      for (const { url } of cluster.gateways) expect(await ann(url)).toBe(200);
      const addresses = cluster.coordinators.map(({ plan }) => plan.rpcAddress).join();
      const folders = [...cluster.storageNodes, ...cluster.gateways].map(({ dataPath }) => dataPath);
      const restored = await runServer({ COORDINATOR_ADDRESSES: addresses }, [
        ...["cluster", "restore-schema", "--from"],
        ...folders,
      ]);
      expect([restored.code, restored.stdout], restored.stderr).toEqual([
        0,
        expect.stringMatching(/of roles and users is back, 3 entries/),
      ]);
      await expect.poll(() => second.metric("shoal_foreign_coordinator"), { timeout: 20_000 }).toBe(0);
      // What they know now is the coordinator's, after a start, too; nobody calls it older than what was known.
      await second.restart();
      for (const { url } of cluster.gateways) {
        expect(await ann(url)).toBe(200);
        expect((await UserClient.of(url, "root").get("/v1/authz/users/ann/roles/db")).json).toEqual([
          { name: "reader" },
        ]);
      }
      for (const gateway of cluster.gateways) expect(gateway.log()).not.toContain("older than those that were known");
      await root.expect(200, "POST", "/v1/authz/users/ann/revoke", { roles: ["reader"], userType: "db" });
      await expect.poll(() => ann(second.url), { timeout: 20_000 }).toBe(403);
    });
  });

  it("of the one process come back from its own folder", async () => {
    await using server = await ServerProcess.start({ env: rolesSettings() });
    const root = UserClient.of(server.url, "root");
    await root.expect(200, "POST", "/v1/schema", { class: "Mine", properties: [{ name: "n", dataType: ["int"] }] });
    const ann = await withUser(root);
    await server.stop();
    const { dataPath } = server;
    await rename(join(dataPath, "schema"), join(dataPath, "schema-lost"));
    const restored = await runServer({}, ["cluster", "restore-schema", "--data-path", dataPath, "--from", dataPath]);
    expect([restored.code, restored.stdout], restored.stderr).toEqual([0, expect.stringContaining("3 entries")]);
    await server.launch();
    expect(await ann(server.url)).toBe(200);
  });
});

/** A user with a role and a key that is only known here; the status of what it may do. */
async function withUser(root: UserClient): Promise<(url: string) => Promise<number>> {
  const permissions = [{ action: "read_data", data: { collection: "*" } }];
  await root.expect(201, "POST", "/v1/authz/roles", { name: "reader", permissions });
  const key = String(at((await root.expect(201, "POST", "/v1/users/db/ann", {})).json, "apikey"));
  await root.expect(200, "POST", "/v1/authz/users/ann/assign", { roles: ["reader"], userType: "db" });
  return async (url) => (await new UserClient(url, key).get("/v1/objects")).status;
}

async function counted(http: ServerProcess["http"] | undefined): Promise<unknown> {
  const answer = await http?.graphql("{ Aggregate { Car { meta { count } } } }").catch(() => undefined);
  return answer && at(answer.json, "data", "Aggregate", "Car", 0, "meta", "count");
}

async function statusOf(http: ServerProcess["http"], car: object): Promise<number> {
  return (await http.post("/v1/objects", car)).status;
}

async function copyStates(http: ServerProcess["http"]): Promise<readonly unknown[]> {
  const { json } = await http.get("/v1/nodes?output=verbose");
  const nodes = at(json, "nodes") as readonly { readonly shards?: readonly { readonly copyState?: string }[] }[];
  return nodes.flatMap(({ shards }) => shards?.map(({ copyState }) => copyState) ?? []);
}
