import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentSource, readConfiguration, refuseMisspelledVariables } from "@shoal/service-runtime";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ClusterWish, planCluster, portsNeeded } from "./cluster-plan.js";

let dataPath: string;
let withEtcd: string;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "shoal-plan-"));
  dataPath = join(folder, "data");
  withEtcd = join(folder, "bin");
  mkdirSync(dataPath);
  mkdirSync(withEtcd);
  writeFileSync(join(withEtcd, "etcd"), "");
});
afterEach(() => rmSync(join(dataPath, ".."), { recursive: true, force: true }));

function plan(wish: Partial<ClusterWish> = {}) {
  const whole = { dataPath, gateways: 2, storageNodes: 3, environment: {}, options: [], ...wish };
  const ports = Array.from({ length: portsNeeded(whole) }, (_, i) => 1_000 + i);
  return planCluster(whole, ports);
}

it("gives every process a name, a folder and ports of its own, and settings that are valid", () => {
  const environment = { WIRE_PROFILE: "weaviate", PORT: "9999", METRICS_PORT: "9998", CLUSTER_HOSTNAME: "me" };
  const { gateways, storageNodes, coordinator } = plan({ environment });
  const all = [...gateways, ...storageNodes, coordinator];
  expect(all.map(({ name }) => name)).toEqual([
    ...["gateway-1", "gateway-2", "storage-node-1", "storage-node-2", "storage-node-3", "coordinator-1"],
  ]);
  const configurations = all.map((one) => {
    refuseMisspelledVariables(one.environment);
    const sources = [environmentSource(one.environment)];
    return readConfiguration(sources, (warning) => expect.unreachable(warning), undefined, one.role);
  });
  for (const [i, configuration] of configurations.entries()) {
    expect(configuration).toMatchObject({
      nodeName: all[i]?.role === "storage-node" ? all[i]?.name : undefined,
      dataPath: join(dataPath, all[i]?.name ?? ""),
      wireProfile: "weaviate",
      internalTls: "on",
      internalTlsCertFile: join(dataPath, "certificates", all[i]?.name ?? "", "cert.pem"),
    });
  }
  const ports = configurations.flatMap(({ port, metricsPort, internalPort }, i) => [
    ...(all[i]?.role === "gateway" ? [port] : [internalPort]),
    metricsPort,
  ]);
  expect(new Set(ports).size).toBe(12);
  expect(ports.some((port) => port === 9999 || port === 9998)).toBe(false);
  const addresses = configurations.map(({ coordinatorAddresses }) => coordinatorAddresses.join());
  expect(addresses.slice(0, 5)).toEqual(Array(5).fill(`127.0.0.1:${configurations[5]?.internalPort}`));
  expect(configurations[5]?.expectedStorageNodes).toBe(3);
});

it("keeps the schema in etcd where it is installed or named, and stays with what a folder began with", () => {
  expect(plan().store).toBe("a store of its own");
  const own = plan({ environment: { PATH: `/nowhere:${withEtcd}`, ETCD_NAME: "stranger" } });
  const [client] =
    /https:\S+/.exec(own.etcd?.command.find((one) => one.startsWith("--listen-client-urls")) ?? "") ?? [];
  expect(own.coordinator.environment.ETCD_ENDPOINTS).toBe(client);
  expect(own.etcd?.environment).not.toHaveProperty("ETCD_NAME");
  const named = plan({ environment: { PATH: withEtcd, ETCD_ENDPOINTS: "https://etcd:2379" } });
  expect(named).toMatchObject({ etcd: undefined, store: "etcd at https://etcd:2379" });
  mkdirSync(join(dataPath, "coordinator-1"));
  expect(plan({ environment: { PATH: withEtcd } }).store).toBe("a store of its own");
  mkdirSync(join(dataPath, "etcd"));
  expect(plan({ environment: { PATH: withEtcd } }).store).toBe("etcd");
  expect(() => plan()).toThrow(/needs etcd, which is not on the PATH/);
});

it("S6: has mutual TLS with certificates for all of them, and does without when the environment says so", () => {
  const own = plan({ environment: { PATH: withEtcd } });
  expect(own.certificates?.processes.map(({ name }) => name).sort()).toEqual([
    ...["coordinator-1", "etcd-1", "gateway-1", "gateway-2", "storage-node-1", "storage-node-2", "storage-node-3"],
  ]);
  expect(own.etcd?.command).toContain("--client-cert-auth=true");
  expect(own.coordinator.environment.ETCD_CERT_FILE).toBe(own.coordinator.environment.INTERNAL_TLS_CERT_FILE);
  const without = plan({ environment: { PATH: withEtcd, INTERNAL_TLS: "off" } });
  expect(without.certificates).toBeUndefined();
  expect(without.gateways[0]?.environment).toMatchObject({ INTERNAL_TLS: "off" });
  expect(without.etcd?.command.some((one) => one.startsWith("--listen-client-urls=http:"))).toBe(true);
});

it("does not leave the data of a storage node behind", () => {
  mkdirSync(join(dataPath, "storage-node-3"));
  expect(plan({ storageNodes: 4 }).storageNodes).toHaveLength(4);
  expect(() => plan({ storageNodes: 2 })).toThrow("CLUSTER_NODES must be at least 3, got 2");
});
