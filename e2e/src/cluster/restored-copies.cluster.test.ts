import { expect, it } from "vitest";
import { at } from "../http-client.js";
import { lacks } from "../needs.js";
import { runServer } from "../server-process.js";
import { withCluster } from "./cluster.js";

const OBJECTS = 30;
const LEASE_MS = 1_000;
/** Longer than a copy that was just opened waits for the others. */
const GOES_ON_MS = 18 * LEASE_MS;

function idOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
}

it.skipIf(lacks("etcd", "etcdctl"))(
  "a store that is put back and knows an older primary loses nothing that was acknowledged since (needs etcd, etcdctl)",
  () =>
    withCluster(
      {
        gateways: 1,
        storageNodes: 2,
        etcdMembers: 1,
        coordinators: 1,
        env: { COPY_LEASE_MILLISECONDS: String(LEASE_MS) },
      },
      async (cluster) => {
        const { http } = cluster;
        const add = async (from: number) => {
          const objects = Array.from({ length: OBJECTS }, (_, i) => ({
            class: "Copied",
            id: idOf(from + i),
            vector: [1, from + i],
            properties: { n: from + i },
          }));
          const answer = await http.post("/v1/batch/objects", { objects });
          return (answer.json as readonly unknown[]).filter((item) => at(item, "result", "errors") !== undefined);
        };
        const body = {
          class: "Copied",
          properties: [{ name: "n", dataType: ["int"] }],
          replicationConfig: { factor: 2 },
          shardingConfig: { desiredCount: 1 },
        };
        expect((await http.post("/v1/schema", body)).status).toBe(200);
        await expect.poll(() => add(0), { timeout: 30_000 }).toEqual([]);
        const file = `${cluster.folder}/backup`;
        cluster.etcd.saveSnapshot(file);

        const { json } = await http.get("/v1/nodes?output=verbose");
        const nodes = at(json, "nodes") as readonly unknown[];
        const primary = nodes.find((node) => at(node, "shards", 0, "isPrimary") === true);
        const away = cluster.member(String(at(primary, "name")));
        await away.kill();
        await expect.poll(() => add(OBJECTS), { timeout: 30_000 }).toEqual([]);

        // As the runbook says: coordinators stop, etcd is put back, coordinators start.
        await Promise.all(cluster.coordinators.map((one) => one.stop()));
        await cluster.etcd.putBack(file);
        await Promise.all(cluster.coordinators.map((one) => one.launch()));
        await away.launch();
        await new Promise((resolve) => setTimeout(resolve, GOES_ON_MS));

        const statuses = await Promise.all(
          Array.from({ length: 2 * OBJECTS }, async (_, n) => (await http.get(`/v1/objects/${idOf(n)}`)).status),
        );
        expect(statuses.filter((status) => status === 404).length).toBe(0);
        expect(new Set(statuses)).toEqual(new Set([200]));

        // As the runbook says, too: the store learns what the nodes know, and all is as it was.
        const restored = await runServer(
          { COORDINATOR_ADDRESSES: cluster.coordinators.map(({ plan }) => plan.rpcAddress).join() },
          ["cluster", "restore-copies", "--from", ...cluster.storageNodes.map(({ dataPath }) => dataPath)],
        );
        expect([restored.code, restored.stdout], restored.stderr).toEqual([
          0,
          "who holds the copies of 1 shards is known to the store\n",
        ]);
        const states = async () => {
          const { json } = await http.get("/v1/nodes?output=verbose");
          return (at(json, "nodes") as readonly unknown[]).map((node) => at(node, "shards", 0, "copyState"));
        };
        await expect.poll(states, { timeout: 60_000 }).toEqual(["IN_SYNC", "IN_SYNC"]);
        await expect.poll(() => add(2 * OBJECTS), { timeout: 30_000 }).toEqual([]);
      },
    ),
  240_000,
);
