import type { FaultRow } from "../../faults/fault-row.js";
import { KnownData } from "../../faults/known-data.js";
import { pause, rowOnCluster } from "./row-on-cluster.js";

const CLIENTS = 32;
const SETTLE_MS = 500;

/**
 * S12: gateways behind a balancer that keeps connections to them are stopped and started again, one after the other, under
 * as many requests as 32 clients send. No connection is reset, no request fails.
 */
export const S12_CLUSTER: FaultRow = {
  id: "S12",
  on: "cluster",
  title: "drains behind a load balancer that keeps connections",
  needs: ["etcd"],
  run: (run) =>
    rowOnCluster({ env: { DRAIN_DELAY_SECONDS: "1" } }, run, async (cluster, failures) => {
      const { size, random } = run;
      const requests = size === "short" ? 8_000 : 100_000;
      const data = KnownData.random(cluster.http, "Car", 500, 8, random);
      await data.createClass(3);
      const trouble = await data.import();
      if (trouble !== undefined) throw new Error(trouble);
      let sent = 0;
      let isRestarting = true;
      const client = async (): Promise<void> => {
        while (sent < requests || isRestarting) {
          const object = data.objects[sent++ % data.objects.length];
          const isWrite = sent % 10 === 0;
          const path = `/v1/objects/${object?.id}`;
          try {
            const { status, text } = isWrite
              ? await cluster.http.patch(path, { class: "Car", properties: { n: object?.n } })
              : await cluster.http.get(path);
            failures.check(status < 300, `${isWrite ? "PATCH" : "GET"}: ${status} ${text.slice(0, 300)}`);
          } catch (error) {
            failures.add(String(error));
          }
        }
      };
      const clients = Array.from({ length: CLIENTS }, client);
      for (const gateway of cluster.gateways) {
        await gateway.restart();
        await pause(SETTLE_MS);
      }
      isRestarting = false;
      await Promise.all(clients);
      for (const line of cluster.balancer.broken) failures.add(`connection broken: ${line}`);
      return { requests: sent, drains: cluster.gateways.length, "resets and failures": failures.count };
    }),
};
