import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { at } from "../http-client.js";
import type { ClusterNetwork } from "./cluster-network.js";
import { ClusterProcess } from "./cluster-process.js";

const LEADER_PAUSE_MS = 20;

interface Member {
  readonly process: ClusterProcess;
  readonly clientUrl: string;
  /** Of etcd: what a snapshot is restored with, too. */
  readonly flags: Readonly<Record<string, string>>;
}

function etcdctl(...args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync("etcdctl", args, {
    encoding: "utf8",
    env: { PATH: process.env.PATH, ETCDCTL_API: "3" },
  });
  if (status !== 0) throw new Error(`etcdctl ${args.join(" ")}: ${stdout}${stderr}`);
}

/** One or three etcd processes that form a store. */
export class EtcdMembers {
  private constructor(readonly members: readonly Member[]) {}

  /** Starts them; they are ready when {@link ready} resolves. */
  static async start(count: 1 | 3, network: ClusterNetwork, folder: string): Promise<EtcdMembers> {
    const places = await Promise.all(
      Array.from({ length: count }, async (_, number) => {
        const name = `etcd-${number}`;
        const { host, prefix, port } = network.seat(name);
        const [client, peer] = [await port(2379), await port(2380)];
        return { name, prefix, clientUrl: `http://${host}:${client}`, peerUrl: `http://${host}:${peer}` };
      }),
    );
    const all = places.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join();
    const members = places.map(({ name, prefix, clientUrl, peerUrl }): Member => {
      const own = join(folder, name);
      mkdirSync(own, { mode: 0o700 });
      const flags = {
        name,
        "data-dir": join(own, "data"),
        "listen-client-urls": clientUrl,
        "advertise-client-urls": clientUrl,
        "listen-peer-urls": peerUrl,
        "initial-advertise-peer-urls": peerUrl,
        "initial-cluster": all,
        "initial-cluster-state": "new",
        logger: "zap",
      };
      const process = new ClusterProcess({
        name,
        command: [...prefix, "etcd", ...Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)],
        env: {},
        logFile: join(folder, `${name}.log`),
        readyUrl: `${clientUrl}/health`,
      });
      process.spawn();
      return { process, clientUrl, flags };
    });
    return new EtcdMembers(members);
  }

  /** As `ETCD_ENDPOINTS` wants them. */
  get endpoints(): string {
    return this.members.map(({ clientUrl }) => new URL(clientUrl).host).join();
  }

  get processes(): readonly ClusterProcess[] {
    return this.members.map(({ process }) => process);
  }

  async ready(): Promise<void> {
    await Promise.all(this.processes.map((one) => one.ready()));
  }

  /** Writes a snapshot into `file`. */
  saveSnapshot(file: string): void {
    etcdctl(`--endpoints=${this.members[0]?.clientUrl}`, "snapshot", "save", file);
  }

  /** Stops all members and starts them on what was saved. */
  async putBack(file: string): Promise<void> {
    await Promise.all(this.processes.map((one) => one.kill()));
    for (const { flags, process } of this.members) {
      rmSync(flags["data-dir"] ?? "", { recursive: true });
      const needed = ["name", "data-dir", "initial-cluster", "initial-advertise-peer-urls"];
      etcdctl("snapshot", "restore", file, ...needed.map((flag) => `--${flag}=${flags[flag]}`));
      process.spawn();
    }
    await this.ready();
  }

  /** The member that leads right now; waits while there is none. */
  async leader(): Promise<ClusterProcess> {
    for (;;) {
      for (const { process, clientUrl } of this.members) {
        if (!process.running) continue;
        const url = `${clientUrl}/v3/maintenance/status`;
        const status: unknown = await fetch(url, {
          method: "POST",
          body: "{}",
          signal: AbortSignal.timeout(1_000),
        }).then(
          (answer) => answer.json(),
          () => undefined,
        );
        const leader = at(status, "leader");
        if (leader !== undefined && leader !== "0" && leader === at(status, "header", "member_id")) return process;
      }
      await new Promise((resolve) => setTimeout(resolve, LEADER_PAUSE_MS));
    }
  }
}
