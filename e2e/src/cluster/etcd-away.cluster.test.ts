import { expect, it } from "vitest";
import { lacks } from "../needs.js";
import { withCluster } from "./cluster.js";

const hasNoEtcd = lacks("etcd");

// covers: decisions/both/coordinator-unreachable
it.skipIf(hasNoEtcd)(
  "without etcd a storage node that is known restarts, serves and is ready; nothing else of the cluster changes (needs etcd)",
  async () => {
    await withCluster({ gateways: 1, storageNodes: 2, coordinators: 1, etcdMembers: 1 }, async (cluster) => {
      const { http, etcd } = cluster;
      const body = (name: string) => ({ class: name, vectorizer: "none" });
      expect((await http.post("/v1/schema", body("Car"))).status).toBe(200);
      const object = { class: "Car", vector: [1, 2] };
      expect((await http.post("/v1/objects", object)).status).toBe(200);
      for (const process of etcd.processes) await process.kill();
      await expect.poll(async () => (await http.post("/v1/schema", body("Later"))).status).toBe(503);
      // Fails unless they become ready.
      for (const node of cluster.storageNodes) await node.restart();
      await cluster.gateways[0]?.restart();
      for (let made = 0; made < 4; made++) {
        await expect.poll(async () => (await http.post("/v1/objects", object)).status).toBe(200);
      }
      for (const process of etcd.processes) process.spawn();
      await cluster.ready();
      await expect.poll(async () => (await http.post("/v1/schema", body("Later"))).status).toBe(200);
    });
  },
);
