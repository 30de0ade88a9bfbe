import { expect, it } from "vitest";
import { lacks } from "../needs.js";
import { runServer } from "../server-process.js";
import { type Cluster, withCluster } from "./cluster.js";
import { nodeReports } from "./shard-owners.js";

const CLASS = { class: "Car", shardingConfig: { desiredCount: 3 } };

async function remove(cluster: Cluster, node: string) {
  const addresses = cluster.coordinators.map(({ plan }) => plan.rpcAddress).join();
  const { code, stdout, stderr } = await runServer({ COORDINATOR_ADDRESSES: addresses }, ["cluster", "remove", node]);
  return { code, text: stdout + stderr };
}

it.skipIf(lacks("etcd"))(
  "a storage node leaves when it is stopped and has no shards, and is forgotten by everybody (needs etcd)",
  async () => {
    const options = { gateways: 2, storageNodes: 3, coordinators: 2, env: { CLUSTER_EXPECTED_STORAGE_NODES: "2" } };
    await withCluster(options, async (cluster) => {
      const names = async () =>
        Promise.all(cluster.gateways.map(async ({ http }) => (await nodeReports(http)).map(({ name }) => name).join()));
      const node = cluster.member("storage-2");
      expect((await cluster.http.post("/v1/schema", CLASS)).status).toBe(200);
      expect(await remove(cluster, "storage-2")).toMatchObject({
        code: 1,
        text: expect.stringMatching(/runs at .*stop/),
      });
      await node.stop();
      expect(await remove(cluster, "storage-2")).toMatchObject({
        code: 1,
        text: expect.stringMatching(/'storage-2' has shards, 1 of 'Car'/),
      });
      expect(await names()).toEqual(Array(2).fill("storage-0,storage-1,storage-2"));
      // It could still take writes into the class, until whoever knows says that it is gone for good.
      const pending = await cluster.http.delete("/v1/schema/Car");
      expect([pending.status, pending.text.includes("'storage-2' has not confirmed")], pending.text).toEqual([
        503,
        true,
      ]);
      expect(await remove(cluster, "storage-2")).toEqual({ code: 0, text: "storage node 'storage-2' is removed\n" });
      expect((await cluster.http.delete("/v1/schema/Car")).status).toBe(200);
      expect(await remove(cluster, "storage-2")).toMatchObject({
        code: 1,
        text: expect.stringContaining("there is no"),
      });
      await expect.poll(names).toEqual(Array(2).fill("storage-0,storage-1"));
      // Whichever coordinator is asked, new shards go to those that are left.
      for (const coordinator of cluster.coordinators) {
        await coordinator.kill();
        await expect.poll(async () => (await cluster.http.post("/v1/schema", CLASS)).status).toBe(200);
        const holders = async () =>
          (await nodeReports(cluster.http)).map(({ name, status, shards }) => [name, status, shards.length > 0]);
        await expect.poll(holders).toEqual(["storage-0", "storage-1"].map((name) => [name, "HEALTHY", true]));
        expect((await cluster.http.delete("/v1/schema/Car")).status).toBe(200);
        await coordinator.launch();
      }
      expect(await remove(cluster, "storage-1")).toMatchObject({ code: 1 });
      await node.launch();
      await expect.poll(names).toEqual(Array(2).fill("storage-0,storage-1,storage-2"));
    });
  },
);
