import type { OracleServer } from "../oracles/graphql/oracle-server.js";
import { Cluster } from "./cluster.js";

/** Two gateways behind a balancer, three storage nodes, an etcd. */
export async function startOracleCluster(env: Readonly<Record<string, string>>): Promise<OracleServer> {
  const cluster = await Cluster.start({ env });
  return {
    http: cluster.http,
    /** One storage node after the other, then everything else. */
    restart: async () => {
      for (const node of cluster.storageNodes) await node.restart();
      await Promise.all([...cluster.coordinators, ...cluster.gateways].map((one) => one.restart()));
      await cluster.reached();
    },
    crash: async () => {
      await Promise.all(cluster.members.map((one) => one.kill()));
      await Promise.all(cluster.members.map((one) => one.launch()));
      await cluster.reached();
    },
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
