import { cpSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { at } from "../http-client.js";
import { lacks } from "../needs.js";
import { type Cluster, withCluster } from "./cluster.js";
import type { ClusterMember } from "./cluster-member.js";
import type { ClusterOptions } from "./cluster-options.js";

const OBJECTS = 30;
const IS_PUT_BACK = "is put back: what it does not know is kept, whatever is made until a node is back";

function classBody(name: string) {
  return { class: name, properties: [{ name: "n", dataType: ["int"] }], shardingConfig: { desiredCount: 2 } };
}

async function fill({ http }: Cluster, className: string): Promise<void> {
  expect((await http.post("/v1/schema", classBody(className))).status).toBe(200);
  const objects = Array.from({ length: OBJECTS }, (_, n) => ({ class: className, vector: [1, n], properties: { n } }));
  const answer = await http.post("/v1/batch/objects", { objects });
  const faults = (answer.json as readonly unknown[]).filter((item) => at(item, "result", "errors") !== undefined);
  expect(faults).toEqual([]);
}

async function countIn({ http }: Cluster, className: string): Promise<unknown> {
  const answer = await http.graphql(`{ Aggregate { ${className} { meta { count } } } }`);
  return at(answer.json, "data", "Aggregate", className, 0, "meta", "count");
}

function classFolders(node: ClusterMember): readonly string[] {
  return readdirSync(join(node.dataPath, "shards")).sort();
}

/** Keeps what the coordinators store, and gives what puts it back: as the runbook says. */
async function backUp(cluster: Cluster): Promise<() => Promise<void>> {
  const [coordinator] = cluster.coordinators;
  if (coordinator === undefined) throw new Error("there is no coordinator");
  const file = join(cluster.folder, "backup");
  let starts = 0;
  const stopAll = () => Promise.all(cluster.coordinators.map((one) => one.stop()));
  const startAll = async () => {
    await Promise.all(cluster.coordinators.map((one) => one.launch()));
    // Until every gateway has found one of them.
    for (const { name, http } of cluster.gateways) {
      const change = { name: name.replace("-", "_") + starts++, dataType: ["int"] };
      await expect.poll(async () => (await http.post("/v1/schema/Kept/properties", change)).status).toBe(200);
    }
  };
  if (cluster.options.etcdMembers !== 0) {
    cluster.etcd.saveSnapshot(file);
    return async () => {
      await stopAll();
      await cluster.etcd.putBack(file);
      await startAll();
    };
  }
  await stopAll();
  cpSync(coordinator.dataPath, file, { recursive: true });
  await startAll();
  return async () => {
    await stopAll();
    rmSync(coordinator.dataPath, { recursive: true });
    cpSync(file, coordinator.dataPath, { recursive: true });
    await startAll();
  };
}

it.skipIf(lacks("etcd", "etcdctl"))(`etcd ${IS_PUT_BACK} (needs etcd, etcdctl)`, () =>
  keepsWhatAStoreDoesNotKnow({ etcdMembers: 1, coordinators: 2 }),
);

it(`the embedded store ${IS_PUT_BACK}`, () => keepsWhatAStoreDoesNotKnow({ etcdMembers: 0, coordinators: 1 }));

async function keepsWhatAStoreDoesNotKnow(store: Pick<ClusterOptions, "etcdMembers" | "coordinators">): Promise<void> {
  await withCluster({ gateways: 2, storageNodes: 2, ...store }, async (cluster) => {
    await fill(cluster, "Kept");
    await fill(cluster, "Deleted");
    const putBack = await backUp(cluster);
    expect((await cluster.http.delete("/v1/schema/Deleted")).status).toBe(200);
    await fill(cluster, "Later");
    await expect.poll(() => cluster.storageNodes.map((node) => classFolders(node).length)).toEqual([2, 2]);
    const folders = cluster.storageNodes.map(classFolders);
    const away = cluster.member("storage-1");
    await away.stop();
    await putBack();
    // More versions than the node that is away has ever seen.
    for (let made = 0; made < 8; made++) {
      expect((await cluster.http.post("/v1/schema", classBody(`New${made}`))).status).toBe(200);
    }
    await away.launch();
    await cluster.reached();
    for (const { http } of cluster.gateways) {
      const { json } = await http.get("/v1/schema");
      const names = (at(json, "classes") as readonly unknown[]).map((one) => at(one, "class"));
      expect(names).toEqual(["Kept", "Deleted", ...Array.from({ length: 8 }, (__, made) => `New${made}`)]);
    }
    expect(await countIn(cluster, "Kept")).toBe(OBJECTS);
    expect(await countIn(cluster, "Deleted")).toBe(0);
    for (const [at, node] of cluster.storageNodes.entries()) {
      expect(classFolders(node)).toEqual(expect.arrayContaining([...(folders[at] ?? [])]));
      await expect.poll(() => node.log()).toContain("belongs to no class of the schema and is kept");
    }
    // From here on it is as before: what is deleted goes, also on a node that is away.
    const before = classFolders(away).length;
    await away.stop();
    expect((await cluster.http.delete("/v1/schema/Kept")).status).toBe(503);
    await away.launch();
    await expect.poll(() => classFolders(away).length).toBe(before - 1);
  });
}
