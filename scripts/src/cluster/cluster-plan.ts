import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ShoalError } from "@shoal/model";
import { readersOf, SETTINGS } from "@shoal/service-runtime";
import { type CertifiedProcess, certificateFiles } from "./cluster-certificates.js";
import type { ClusterProcess } from "./cluster-file.js";
import type { ProcessPlan } from "./supervised-process.js";

export const SHOAL = fileURLToPath(new URL("../../../packages/cli/dist/main.js", import.meta.url));
const END_WITH_PARENT = fileURLToPath(new URL("./end-with-parent.js", import.meta.url));
const LOOPBACK = "127.0.0.1";

export interface ClusterWish {
  /** Absolute; each process has a folder of its own in it. */
  readonly dataPath: string;
  readonly gateways: number;
  readonly storageNodes: number;
  /** What this process was started with; settings of the cluster go on to those of its processes that read them. */
  readonly environment: NodeJS.ProcessEnv;
  /** Options that every process takes, such as `--config-file x`. */
  readonly options: readonly string[];
}

/** A process of ours: how it is started and where it is found. */
export interface ShoalPlan extends ProcessPlan {
  readonly role: ClusterProcess["role"];
  /** Where it says whether it is ready. */
  readonly internalOrigin: string;
  /** Of a gateway: where it serves. */
  readonly publicPort?: number;
}

export interface ClusterPlan {
  readonly etcd: ProcessPlan | undefined;
  readonly coordinator: ShoalPlan;
  readonly storageNodes: readonly ShoalPlan[];
  readonly gateways: readonly ShoalPlan[];
  /** What keeps the schema, in words. */
  readonly store: string;
  /** Undefined: INTERNAL_TLS is off. */
  readonly certificates: { readonly folder: string; readonly processes: readonly CertifiedProcess[] } | undefined;
}

/** Ports that {@link planCluster} needs. */
export function portsNeeded({ gateways, storageNodes }: ClusterWish): number {
  return 2 + 2 + 2 * storageNodes + 2 * gateways;
}

/** Variables of mutual TLS for one process; the folder is undefined where it is off. */
function tlsVariables(folder: string | undefined, name: string): Readonly<Record<string, string>> {
  if (folder === undefined) return { INTERNAL_TLS: "off" };
  const { ca, certificate, key } = certificateFiles(folder, name);
  return {
    INTERNAL_TLS: "on",
    INTERNAL_TLS_CA_FILE: ca,
    INTERNAL_TLS_CERT_FILE: certificate,
    INTERNAL_TLS_KEY_FILE: key,
  };
}

/**
 * All processes of the cluster on the loopback address, with mutual TLS unless the environment says INTERNAL_TLS=off. Fails with `invalid` when the data needs what this plan would not
 * have: more storage nodes, or etcd.
 */
export function planCluster(wish: ClusterWish, ports: readonly number[]): ClusterPlan {
  const { dataPath, storageNodes, gateways, environment } = wish;
  const left = [...ports];
  const port = (): number => {
    const next = left.pop();
    if (next === undefined) throw new ShoalError("unavailable", "there are not enough free ports");
    return next;
  };
  refuseFewerNodes(dataPath, storageNodes);
  const common = { ...environment, METRICS_HOST: LOOPBACK, INTERNAL_HOST: LOOPBACK };
  const folder = environment.INTERNAL_TLS === "off" ? undefined : join(dataPath, "certificates");
  const plan = (role: ShoalPlan["role"], name: string, own: Readonly<Record<string, string | number>>): ShoalPlan => {
    const internal = port();
    const variables = { ...own, ...tlsVariables(folder, name), METRICS_PORT: internal, CLUSTER_HOSTNAME: name };
    const texts = Object.entries(variables).map(([variable, value]) => [variable, String(value)]);
    const all: NodeJS.ProcessEnv = {
      ...common,
      PERSISTENCE_DATA_PATH: join(dataPath, name),
      ...Object.fromEntries(texts),
    };
    const unread = new Set(
      SETTINGS.filter((setting) => !readersOf(setting).includes(role)).map(({ variable }) => variable),
    );
    return {
      name,
      role,
      command: [process.execPath, SHOAL, role, ...wish.options],
      environment: Object.fromEntries(Object.entries(all).filter(([variable]) => !unread.has(variable))),
      internalOrigin: `http://${LOOPBACK}:${internal}`,
    };
  };
  const { etcd, endpoints, store, variables: etcdVariables } = planEtcd(wish, folder, port);
  const coordinatorPort = port();
  const coordinators = { COORDINATOR_ADDRESSES: `${LOOPBACK}:${coordinatorPort}` };
  const named = (role: string, count: number) => numbered(role, count).map((name) => ({ name, role }));
  const processes = [
    ...[...named("coordinator", 1), ...named("storage-node", storageNodes), ...named("gateway", gateways)],
    ...(etcd === undefined ? [] : named("etcd", 1)),
  ];
  return {
    etcd,
    store,
    certificates: folder === undefined ? undefined : { folder, processes },
    coordinator: plan("coordinator", "coordinator-1", {
      INTERNAL_PORT: coordinatorPort,
      CLUSTER_EXPECTED_STORAGE_NODES: storageNodes,
      ETCD_ENDPOINTS: endpoints,
      ...etcdVariables,
    }),
    storageNodes: numbered("storage-node", storageNodes).map((name) =>
      plan("storage-node", name, { ...coordinators, INTERNAL_PORT: port(), INTERNAL_ADVERTISED_ADDRESS: "" }),
    ),
    gateways: numbered("gateway", gateways).map((name) => {
      const publicPort = port();
      // Its readiness is looked at several times a second: a second is enough for everybody to notice that it drains.
      const drain = environment.DRAIN_DELAY_SECONDS ?? 1;
      const own = { ...coordinators, HOST: LOOPBACK, PORT: publicPort, DRAIN_DELAY_SECONDS: drain };
      return { ...plan("gateway", name, own), publicPort };
    }),
  };
}

function numbered(role: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, i) => `${role}-${i + 1}`);
}

function refuseFewerNodes(dataPath: string, storageNodes: number): void {
  const names = existsSync(dataPath) ? readdirSync(dataPath) : [];
  const most = Math.max(0, ...names.map((name) => Number(/^storage-node-(\d+)$/.exec(name)?.[1] ?? 0)));
  if (most <= storageNodes) return;
  throw new ShoalError(
    "invalid",
    `'${dataPath}' holds the data of ${most} storage nodes: CLUSTER_NODES must be at least ${most}, got ${storageNodes}`,
  );
}

/** What the coordinator keeps the schema in: etcd that is named, etcd of our own where it is installed, or its own folder. */
function planEtcd({ dataPath, environment }: ClusterWish, certificates: string | undefined, port: () => number) {
  const named = environment.ETCD_ENDPOINTS ?? "";
  if (named !== "") return { etcd: undefined, endpoints: named, store: `etcd at ${named}`, variables: {} };
  const folder = join(dataPath, "etcd");
  const hasOwnEtcd = existsSync(folder);
  const binary = (environment.PATH ?? "")
    .split(delimiter)
    .map((one) => join(one, "etcd"))
    .find(existsSync);
  if (hasOwnEtcd && binary === undefined) {
    throw new ShoalError("invalid", `the schema in '${folder}' needs etcd, which is not on the PATH`);
  }
  // What began with the coordinator's own store stays there.
  if (binary === undefined || (!hasOwnEtcd && existsSync(join(dataPath, "coordinator-1")))) {
    return { etcd: undefined, endpoints: "", store: "a store of its own", variables: {} };
  }
  const scheme = certificates === undefined ? "http" : "https";
  const [client, peer] = [`${scheme}://${LOOPBACK}:${port()}`, `${scheme}://${LOOPBACK}:${port()}`];
  const options = {
    name: "etcd-1",
    "data-dir": folder,
    "listen-client-urls": client,
    "advertise-client-urls": client,
    "listen-peer-urls": peer,
    "initial-advertise-peer-urls": peer,
    "initial-cluster": `etcd-1=${peer}`,
    "auto-compaction-retention": "1",
    logger: "zap",
    "log-level": "warn",
    ...(certificates !== undefined && etcdTlsOptions(certificates)),
  };
  const args = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
  const foreign = Object.entries(environment).filter(([variable]) => !variable.startsWith("ETCD_"));
  const etcd: ProcessPlan = {
    name: "etcd-1",
    command: [process.execPath, END_WITH_PARENT, binary, ...args],
    environment: Object.fromEntries(foreign),
  };
  return { etcd, endpoints: client, store: "etcd", variables: etcdTlsVariables(certificates) };
}

/** etcd takes requests from coordinators only, and no members but itself: the authority alone vouches for every process of the cluster. */
function etcdTlsOptions(folder: string) {
  const { ca, certificate, key } = certificateFiles(folder, "etcd-1");
  const files = { "cert-file": certificate, "key-file": key, "trusted-ca-file": ca, "client-cert-auth": "true" };
  const peers = Object.entries(files).map(([option, value]) => [`peer-${option}`, value]);
  return {
    ...files,
    ...Object.fromEntries(peers),
    "client-cert-allowed-hostname": "coordinator",
    "peer-cert-allowed-hostname": "etcd",
    // Its gateway for JSON asks etcd with etcd's own certificate, which is refused; nobody uses it.
    "enable-grpc-gateway": "false",
  };
}

/** Without TLS of ours those of the environment stay. */
function etcdTlsVariables(folder: string | undefined): Readonly<Record<string, string>> {
  if (folder === undefined) return {};
  const { ca, certificate, key } = certificateFiles(folder, "coordinator-1");
  return { ETCD_CA_FILE: ca, ETCD_CERT_FILE: certificate, ETCD_KEY_FILE: key };
}
