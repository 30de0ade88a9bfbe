import { readFileSync } from "node:fs";
import { connect as connectPlain } from "node:net";
import { join } from "node:path";
import { type ConnectionOptions, connect } from "node:tls";
import type { FaultRow } from "../../faults/fault-row.js";
import { graphqlErrors } from "../../http-client.js";
import { type Certificates, makeCertificates } from "../certificates.js";
import { ClusterProcess } from "../cluster-process.js";
import { msUntil, rowOnCluster } from "./row-on-cluster.js";

const ANSWER_TIMEOUT_MS = 3_000;
const REFUSED_MAX_MS = 10_000;
/** What begins an HTTP/2 connection (RFC 9113, 3.4), with an empty SETTINGS frame. */
const PREFACE = Buffer.concat([
  Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const SETTINGS_FRAME = 4;

/**
 * S11: the internal ports answer nobody without a certificate of the cluster's authority, nor plain HTTP/2; a storage node
 * that says it is another one is not let in, and gateways do not believe an address that proves another name.
 */
export const S11_CLUSTER: FaultRow = {
  id: "S11",
  on: "cluster",
  title: "internal gRPC without or with a wrong certificate",
  needs: ["etcd", "root", "ip", "nft"],
  run: (run) =>
    rowOnCluster({ network: "namespaces" }, run, async (cluster, failures) => {
      const { certificates } = cluster;
      const strangers = await makeCertificates(join(cluster.folder, "strangers"), [
        { name: "storage-0", role: "storage-node", host: "127.0.0.1" },
      ]);
      const ports = [...cluster.coordinators, ...cluster.storageNodes];
      let refused = 0;
      for (const { name, role, plan } of ports) {
        const [host = "", port = ""] = plan.rpcAddress?.split(":") ?? [];
        const to = { host, port: Number(port), servername: role === "coordinator" ? "coordinator" : name };
        const ca = read(certificates, "gateway-0", "ca");
        const attempts: readonly [string, ConnectionOptions | "plain", boolean][] = [
          ["a gateway", { ...to, ca, ...pair(certificates, "gateway-0") }, true],
          ["nobody in particular", { ...to, ca }, false],
          ["a stranger", { ...to, ca, ...pair(strangers, "storage-0") }, false],
          ["plain HTTP/2", "plain", false],
        ];
        for (const [who, options, isWelcome] of attempts) {
          const spoke = await speaksHttp2(to.host, to.port, options);
          failures.check(spoke === isWelcome, `${name} ${spoke ? "answers" : "does not answer"} ${who}`);
          if (!spoke) refused += 1;
        }
      }

      // One that is of the cluster, but not the one it says it is.
      const [victim, other] = cluster.storageNodes;
      if (victim === undefined || other === undefined) throw new Error("two storage nodes are needed");
      await cluster.http.post("/v1/schema", { class: "Car", properties: [{ name: "n", dataType: ["int"] }] });
      const ask = () => cluster.http.graphql("{ Aggregate { Car { meta { count } } } }");
      failures.check(graphqlErrors(await ask()).length === 0, "a class of all nodes is not answered");
      await victim.stop();
      const impostor = new ClusterProcess({
        ...victim.plan,
        env: { ...victim.plan.env, ...certificates.settingsOf(other.name) },
        logFile: join(cluster.folder, "impostor.log"),
      });
      try {
        impostor.spawn();
        const readyMs = await msUntil(async () => {
          if (!impostor.running) return false;
          return fetch(impostor.plan.readyUrl).then(
            ({ status }) => status === 200,
            () => false,
          );
        }, REFUSED_MAX_MS);
        failures.check(
          readyMs === undefined,
          `a node with the certificate of ${other.name} became ready as ${victim.name}`,
        );
        failures.check(impostor.log().includes(victim.name), `it does not say why:\n${impostor.logTail()}`);
        if (readyMs === undefined) refused += 1;
        failures.check(!impostor.running, `it goes on with the certificate of ${other.name}`);
        const [told] = graphqlErrors(await ask());
        failures.check(String(told).includes(victim.name), `a gateway believes it: ${told}`);
        if (told !== undefined) refused += 1;
      } finally {
        await impostor[Symbol.asyncDispose]();
      }
      await victim.launch();
      const backMs = await msUntil(async () => graphqlErrors(await ask()).length === 0, REFUSED_MAX_MS);
      failures.check(backMs !== undefined, `${victim.name} itself is not believed again`);
      return { "ports tried": ports.length, "attempts refused": refused, failures: failures.count };
    }),
};

function read(certificates: Certificates, name: string, what: "ca" | "cert" | "key"): Buffer {
  return readFileSync(certificates.file(name, what));
}

function pair(certificates: Certificates, name: string): { readonly cert: Buffer; readonly key: Buffer } {
  return { cert: read(certificates, name, "cert"), key: read(certificates, name, "key") };
}

/** Whether the other side answers the beginning of HTTP/2 with its settings. */
function speaksHttp2(host: string, port: number, tls: ConnectionOptions | "plain"): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = tls === "plain" ? connectPlain(port, host) : connect({ ...tls, ALPNProtocols: ["h2"] });
    const timer = setTimeout(() => finish(false), ANSWER_TIMEOUT_MS);
    const finish = (spoke: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(spoke);
    };
    socket.on(tls === "plain" ? "connect" : "secureConnect", () => socket.write(PREFACE));
    // A frame's fourth byte is its type.
    socket.on("data", (bytes: Buffer) => finish(bytes[3] === SETTINGS_FRAME));
    socket.on("error", () => finish(false));
    socket.on("close", () => finish(false));
  });
}
