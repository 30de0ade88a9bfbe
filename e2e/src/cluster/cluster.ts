import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HttpClient } from "../http-client.js";
import { SERVER_MAIN } from "../server-process.js";
import { SmallDisk } from "../small-disk.js";
import { type Certificates, makeCertificates } from "./certificates.js";
import { undoAtEnd } from "./cleanup.js";
import { ClusterMember, type Role } from "./cluster-member.js";
import { type ClusterNetwork, LoopbackNetwork } from "./cluster-network.js";
import type { ClusterOptions } from "./cluster-options.js";
import type { ClusterProcess } from "./cluster-process.js";
import { EtcdMembers } from "./etcd-members.js";
import { GatewayGroup } from "./gateway-group.js";
import { NamespaceNetwork } from "./network-namespaces.js";
import type { RoundRobinBalancer } from "./round-robin-balancer.js";
import { nodeReports } from "./shard-owners.js";
import { SlowLink } from "./slow-link.js";

/** In the order in which they are started one after the other. */
const ROLES = ["coordinator", "storage-node", "gateway"] as const;
const NAMES: Readonly<Record<Role, string>> = {
  coordinator: "coordinator",
  "storage-node": "storage",
  gateway: "gateway",
};
const REACHED_TIMEOUT_MS = 120_000;
const REACHED_PAUSE_MS = 20;
const USUAL_PORTS = { public: 8080, internal: 9090, coordinator: 7100, "storage-node": 7101 } as const;

/**
 * A cluster of real processes: `gateway-0`, `storage-0`, `coordinator-0`, `etcd-0` and so on, each with a data folder and
 * a log of its own. Everything is gone at the end, also when this process is interrupted.
 */
export class Cluster implements AsyncDisposable {
  readonly storageNodes: ClusterMember[] = [];
  readonly coordinators: ClusterMember[] = [];
  readonly disks = new Map<string, SmallDisk>();
  readonly links = new Map<string, SlowLink>();
  /** In `folder` each process has a folder and a log. */
  readonly folder: string;
  readonly #network: ClusterNetwork;
  readonly #undo: Disposable;
  #certificates: Certificates | undefined;
  #etcd: EtcdMembers | undefined;
  /** The first one came with the cluster. */
  readonly #gatewayGroups: GatewayGroup[] = [];

  private constructor(readonly options: ClusterOptions) {
    this.folder = mkdtempSync(join(tmpdir(), "shoal-cluster-"));
    this.#undo = undoAtEnd(() => rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 }));
    this.#network = options.network === "namespaces" ? new NamespaceNetwork() : new LoopbackNetwork();
  }

  /** Starts everything at once and waits until it is ready. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(options);
    try {
      await cluster.#spawn();
      await cluster.ready();
    } catch (error) {
      const told = cluster.withLogs(error);
      await cluster[Symbol.asyncDispose]();
      throw told;
    }
    return cluster;
  }

  async #spawn(): Promise<void> {
    const { gateways = 2, storageNodes = 3, coordinators = 1, etcdMembers = 1 } = this.options;
    if (etcdMembers !== 0) this.#etcd = await EtcdMembers.start(etcdMembers, this.#network, this.folder);
    const names = (role: Role, count: number): readonly string[] =>
      Array.from({ length: count }, (_, number) => `${NAMES[role]}-${number}`);
    const all: Readonly<Record<Role, readonly string[]>> = {
      coordinator: names("coordinator", coordinators),
      "storage-node": names("storage-node", storageNodes),
      gateway: names("gateway", gateways),
    };
    if (this.options.network === "namespaces") {
      const holders = ROLES.flatMap((role) =>
        all[role].map((name) => ({ name, role, host: this.#network.seat(name).host })),
      );
      this.#certificates = await makeCertificates(join(this.folder, "certificates"), holders);
    }
    for (const name of all.coordinator) {
      const member = await this.#member(name, "coordinator");
      this.coordinators.push(member);
      const port = Number(member.plan.rpcAddress?.split(":").at(-1));
      if (this.options.slowToCoordinators !== undefined) this.links.set(name, await SlowLink.listen(port));
    }
    for (const name of all["storage-node"]) this.storageNodes.push(await this.#member(name, "storage-node"));
    for (const member of [...this.coordinators, ...this.storageNodes]) member.spawn();
    await this.#startGateways(all.gateway, {});
  }

  async #startGateways(names: readonly string[], env: Readonly<Record<string, string>>): Promise<GatewayGroup> {
    const members: ClusterMember[] = [];
    for (const name of names) members.push(await this.#member(name, "gateway", env));
    for (const member of members) member.spawn();
    const group = await GatewayGroup.behindBalancer(members);
    this.#gatewayGroups.push(group);
    return group;
  }

  /** Further gateways, with settings of their own, behind a balancer of their own; ready. Only on loopback. */
  async addGateways(count: number, env: Readonly<Record<string, string>>): Promise<GatewayGroup> {
    if (this.#certificates !== undefined) throw new Error("there are no certificates for further gateways");
    const before = this.#gatewayGroups.reduce((sum, { members }) => sum + members.length, 0);
    const names = Array.from({ length: count }, (_, number) => `${NAMES.gateway}-${before + number}`);
    const group = await this.#startGateways(names, env);
    await group.ready();
    return group;
  }

  async #member(name: string, role: Role, env: Readonly<Record<string, string>> = {}): Promise<ClusterMember> {
    const { host, prefix, port } = this.#network.seat(name);
    const rpcPort = role === "gateway" ? undefined : await port(USUAL_PORTS[role]);
    const publicPort = role === "gateway" ? await port(USUAL_PORTS.public) : undefined;
    const internalPort = await port(USUAL_PORTS.internal);
    const dataPath = join(await this.#dataFolder(name), "data");
    const internalUrl = `http://${host}:${internalPort}`;
    const rpcAddress = rpcPort === undefined ? undefined : `${host}:${rpcPort}`;
    const common = {
      CLUSTER_HOSTNAME: name,
      PERSISTENCE_DATA_PATH: dataPath,
      METRICS_HOST: host,
      METRICS_PORT: String(internalPort),
      ...this.#certificates?.settingsOf(name),
      ...(this.options.copies === undefined ? {} : { REPLICATION_FACTOR: String(this.options.copies) }),
    };
    const ofRole: Readonly<Record<Role, () => Promise<Readonly<Record<string, string>>>>> = {
      gateway: async () => ({
        HOST: host,
        PORT: String(publicPort),
        COORDINATOR_ADDRESSES: this.#coordinatorAddresses(name),
      }),
      "storage-node": async () => ({
        INTERNAL_HOST: host,
        INTERNAL_PORT: String(rpcPort),
        INTERNAL_ADVERTISED_ADDRESS: await this.#advertised(name, host, rpcPort ?? 0),
        COORDINATOR_ADDRESSES: this.#coordinatorAddresses(name),
      }),
      coordinator: async () => ({
        INTERNAL_HOST: host,
        INTERNAL_PORT: String(rpcPort),
        CLUSTER_EXPECTED_STORAGE_NODES: String(this.options.storageNodes ?? 3),
        ...(this.#etcd === undefined ? {} : { ETCD_ENDPOINTS: this.#etcd.endpoints }),
      }),
    };
    return new ClusterMember({
      name,
      role,
      command: [...prefix, ...(this.options.prefix?.(name) ?? []), process.execPath, SERVER_MAIN, role],
      env: { ...common, ...(await ofRole[role]()), ...this.options.env, ...env },
      logFile: join(this.folder, `${name}.log`),
      url: publicPort === undefined ? internalUrl : `http://${host}:${publicPort}`,
      internalUrl,
      readyUrl: publicPort === undefined ? `${internalUrl}/ready` : `http://${host}:${publicPort}/v1/.well-known/ready`,
      rpcAddress,
      dataPath,
    });
  }

  async #dataFolder(name: string): Promise<string> {
    const mib = this.options.smallDisks?.[name];
    if (mib !== undefined) {
      const disk = new SmallDisk(mib);
      this.disks.set(name, disk);
      return disk.folder;
    }
    const folder = join(this.folder, name);
    mkdirSync(folder, { mode: 0o700 });
    return folder;
  }

  async #advertised(name: string, host: string, port: number): Promise<string> {
    if (!this.options.slowLinks?.includes(name)) return `${host}:${port}`;
    const link = await SlowLink.listen(port);
    this.links.set(name, link);
    return `127.0.0.1:${link.port}`;
  }

  #coordinatorAddresses(reader: string): string {
    const isSlow = this.options.slowToCoordinators?.includes(reader) ?? false;
    const addressOf = ({ name, plan }: ClusterMember) =>
      isSlow ? `127.0.0.1:${this.links.get(name)?.port}` : plan.rpcAddress;
    return this.coordinators.map(addressOf).join();
  }

  get #gateways(): GatewayGroup {
    const [first] = this.#gatewayGroups;
    if (first === undefined) throw new Error("the cluster has not been started");
    return first;
  }

  get gateways(): readonly ClusterMember[] {
    return this.#gateways.members;
  }

  get balancer(): RoundRobinBalancer {
    return this.#gateways.balancer;
  }

  /** Through the balancer: every request goes to another gateway. */
  get http(): HttpClient {
    return this.#gateways.http;
  }

  get url(): string {
    return this.#gateways.url;
  }

  /** All processes of ours. */
  get members(): readonly ClusterMember[] {
    const gateways = this.#gatewayGroups.flatMap(({ members }) => members);
    return [...this.coordinators, ...this.storageNodes, ...gateways];
  }

  get etcd(): EtcdMembers {
    if (this.#etcd === undefined) throw new Error("this cluster has no etcd");
    return this.#etcd;
  }

  /** Cuts links. */
  get network(): NamespaceNetwork {
    if (!(this.#network instanceof NamespaceNetwork)) throw new Error("links can only be cut between namespaces");
    return this.#network;
  }

  get certificates(): Certificates {
    if (this.#certificates === undefined) throw new Error("the processes of this cluster speak plainly");
    return this.#certificates;
  }

  member(name: string): ClusterMember {
    const found = this.members.find((one) => one.name === name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return found;
  }

  /** Waits until everything that runs is ready. */
  async ready(): Promise<void> {
    await this.#etcd?.ready();
    await Promise.all(this.members.filter(({ running }) => running).map((one) => one.ready()));
    await Promise.all(this.#gatewayGroups.map((group) => group.ready()));
  }

  /** Waits until everything that runs is ready, and every gateway reaches every storage node. */
  async reached(): Promise<void> {
    await this.ready();
    const until = performance.now() + REACHED_TIMEOUT_MS;
    for (const { name, http } of this.gateways) {
      for (;;) {
        const missed = (await nodeReports(http)).filter(({ status }) => status !== "HEALTHY");
        if (missed.length === 0) break;
        if (performance.now() > until) throw new Error(`${name} does not reach ${JSON.stringify(missed)}`);
        await new Promise((resolve) => setTimeout(resolve, REACHED_PAUSE_MS));
      }
    }
  }

  /** The ends of all logs. */
  logs(): string {
    const all: readonly ClusterProcess[] = [...(this.#etcd?.processes ?? []), ...this.members];
    return all.map((one) => `--- ${one.name}${one.running ? "" : " (ended)"}\n${one.logTail()}`).join("\n");
  }

  /** What was thrown, with the ends of all logs in its message. */
  withLogs(thrown: unknown): Error {
    return new Error(`${thrown instanceof Error ? thrown.stack : thrown}\n${this.logs()}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const group of this.#gatewayGroups) await group[Symbol.asyncDispose]();
    for (const one of [...this.members, ...(this.#etcd?.processes ?? [])]) await one[Symbol.asyncDispose]();
    for (const link of this.links.values()) await link[Symbol.asyncDispose]();
    await this.#network[Symbol.asyncDispose]();
    for (const disk of this.disks.values()) disk[Symbol.dispose]();
    this.#undo[Symbol.dispose]();
  }
}

/** Runs `use` on a cluster that is gone afterwards; what it throws comes with the ends of all logs. */
export async function withCluster<T>(options: ClusterOptions, use: (cluster: Cluster) => Promise<T>): Promise<T> {
  await using cluster = await Cluster.start(options);
  try {
    return await use(cluster);
  } catch (error) {
    throw cluster.withLogs(error);
  }
}
