import { rename, rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, at, errorOf, graphqlErrors } from "../http-client.js";
import { Cluster } from "./cluster.js";
import type { ClusterMember } from "./cluster-member.js";
import { nodeReports } from "./shard-owners.js";

const OBJECTS = 40;
const LIST = "/v1/objects?class=Car&limit=1000";

function objects(className: string, count: number) {
  return Array.from({ length: count }, (_, n) => ({ class: className, vector: [1, n], properties: { name: `n${n}` } }));
}

function classBody(name: string) {
  return { class: name, properties: [{ name: "name", dataType: ["text"] }], shardingConfig: { desiredCount: 4 } };
}

function listed(answer: Answer): readonly { readonly id: string }[] {
  expect(answer.status, answer.text).toBe(200);
  return at(answer.json, "objects") as readonly { readonly id: string }[];
}

describe("a cluster of which a process is away", () => {
  let cluster: Cluster;
  let node: ClusterMember;
  beforeAll(async () => {
    cluster = await Cluster.start({ gateways: 2, storageNodes: 2, etcdMembers: 0 });
    node = cluster.member("storage-1");
    expect((await cluster.http.post("/v1/schema", classBody("Car"))).status).toBe(200);
    await imported(objects("Car", OBJECTS));
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  async function imported(batch: readonly object[]): Promise<readonly unknown[]> {
    const answer = await cluster.http.post("/v1/batch/objects", { objects: batch });
    expect(answer.status, answer.text).toBe(200);
    return (answer.json as readonly unknown[]).map((item) => at(item, "result", "errors", "error", 0, "message"));
  }

  // covers: decisions/both/shard-unavailable
  it("holds what needs a node that is being restarted, and answers it", async () => {
    node.signal("SIGTERM");
    await node.exited();
    const asked = Array.from({ length: 6 }, () => cluster.http.get(LIST));
    const faults = imported(objects("Car", 20));
    const query = cluster.http.graphql("{ Aggregate { Car { meta { count } } } }");
    node.spawn();
    for (const one of asked) expect(listed(await one).length).toBeGreaterThanOrEqual(OBJECTS);
    expect(await faults).toEqual(Array(20).fill(undefined));
    expect(graphqlErrors(await query)).toEqual([]);
    await node.ready();
  });

  // covers: decisions/both/shard-unavailable
  it("names node, class and shard of what a node would have to answer that died", async () => {
    await node.kill();
    const names = /shard [a-zA-Z0-9]{12} of class 'Car'.* node 'storage-1' /;
    const list = await cluster.http.get(LIST);
    expect([list.status, list.headers.has("retry-after")]).toEqual([503, true]);
    expect(errorOf(list)).toMatch(names);
    const query = await cluster.http.graphql("{ Get { Car(limit: 1) { name } } }");
    expect([query.status, graphqlErrors(query).length]).toEqual([200, 1]);
    expect(graphqlErrors(query)[0]).toMatch(names);
    const faults = await imported(objects("Car", 40));
    const failed = faults.filter((fault) => fault !== undefined);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(40);
    for (const fault of failed) expect(fault).toMatch(names);
    await node.launch();
    await cluster.reached();
  });

  // covers: decisions/both/schema-change-node-down
  it("changes the schema while a node is down, which catches up when it is back", async () => {
    expect((await cluster.http.post("/v1/schema", classBody("Gone"))).status).toBe(200);
    await node.kill();
    expect((await cluster.http.post("/v1/schema", classBody("New"))).status).toBe(200);
    // Nothing new of it is anywhere, but the node may still take writes into it.
    const deleted = await cluster.http.delete("/v1/schema/Gone");
    expect([deleted.status, deleted.text.includes(`'${node.name}'`)], deleted.text).toEqual([503, true]);
    const property = { name: "late", dataType: ["int"] };
    expect((await cluster.http.post("/v1/schema/Car/properties", property)).status).toBe(200);
    await node.launch();
    await cluster.reached();
    await expect.poll(async () => (await cluster.http.delete("/v1/schema/Gone")).status).toBe(200);
    expect(await imported(objects("New", 20))).toEqual(Array(20).fill(undefined));
    const late = objects("Car", 20).map((one, at) => ({ ...one, properties: { late: at } }));
    expect(await imported(late)).toEqual(Array(20).fill(undefined));
    for (const { name, status, shards } of await nodeReports(cluster.http)) {
      expect(status).toBe("HEALTHY");
      const classes = name === node.name ? ["Car"] : ["Car", "New"];
      expect(new Set(shards.map((shard) => shard.class))).toEqual(new Set(classes));
    }
  });

  it("does not begin with a new folder on a node that has shards, however often it is started", async () => {
    const before = listed(await cluster.http.get(LIST)).length;
    const elsewhere = `${node.dataPath}-elsewhere`;
    await node.kill();
    await rename(node.dataPath, elsewhere);
    for (let turn = 0; turn < 2; turn++) {
      node.spawn();
      expect((await node.exited()).code).toBe(1);
      expect(node.log()).toMatch(/is a new folder, but node 'storage-1' has \d+ shards/);
      expect((await cluster.http.get(LIST)).status).toBe(503);
    }
    await rm(node.dataPath, { recursive: true });
    await rename(elsewhere, node.dataPath);
    await node.launch();
    await cluster.reached();
    expect(listed(await cluster.http.get(LIST)).length).toBe(before);
  });

  // covers: decisions/both/coordinator-unreachable
  it("goes on without coordinator, also after a restart of gateways and nodes, with the schema as it is", async () => {
    const { http } = cluster;
    const before = listed(await http.get(LIST)).length;
    const coordinator = cluster.member("coordinator-0");
    await coordinator.kill();
    // It serves; it is not ready while nobody keeps its address.
    await node.stop();
    node.spawn();
    await cluster.member("gateway-0").restart();
    await expect.poll(async () => (await http.get(LIST)).status).toBe(200);
    for (let turn = 1; turn <= 4; turn++) {
      expect((await http.post("/v1/objects", { class: "Car", vector: [2, turn] })).status).toBe(200);
      expect(listed(await http.get(LIST)).length).toBe(before + turn);
      expect((await http.get("/v1/schema/Car")).status).toBe(200);
      const refused = await http.post("/v1/schema", classBody(`New${turn}`));
      expect([refused.status, refused.headers.has("retry-after")], refused.text).toEqual([503, true]);
    }
    await coordinator.launch();
    await node.ready();
    await expect.poll(async () => (await http.post("/v1/schema", classBody("Later"))).status).toBe(200);
  });
});
