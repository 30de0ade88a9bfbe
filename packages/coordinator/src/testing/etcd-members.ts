import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Etcd3 } from "etcd3";

/** Whether Debian's `etcd-server`, or another one, is installed. Tests that need it are skipped without, and say so in their name. */
export const HAS_ETCD = spawnSync("etcd", ["--version"]).status === 0;

interface Member {
  readonly name: string;
  readonly clientPort: number;
  readonly peerPort: number;
  process: ChildProcess | undefined;
}

export interface EtcdMembersOptions {
  readonly count?: 1 | 3;
  /** Further flags of each. */
  readonly flags?: readonly string[];
  readonly scheme?: "http" | "https";
}

/** etcd of one or three processes on free ports, in a folder of its own. */
export class EtcdMembers implements AsyncDisposable {
  readonly #folder: string;
  readonly #members: readonly Member[];
  readonly #options: EtcdMembersOptions;

  private constructor(folder: string, members: readonly Member[], options: EtcdMembersOptions) {
    this.#folder = folder;
    this.#members = members;
    this.#options = options;
  }

  static async start(options: EtcdMembersOptions = {}): Promise<EtcdMembers> {
    const ports = await freePorts(2 * (options.count ?? 1));
    const members: Member[] = [];
    for (let at = 0; at < ports.length; at += 2) {
      const [clientPort = 0, peerPort = 0] = ports.slice(at, at + 2);
      members.push({ name: `m${at / 2}`, clientPort, peerPort, process: undefined });
    }
    const started = new EtcdMembers(await mkdtemp(join(tmpdir(), "shoal-etcd-")), members, options);
    await Promise.all(members.map((_, at) => started.run(at)));
    return started;
  }

  get endpoints(): readonly string[] {
    const scheme = this.#options.scheme === "https" ? "https://" : "";
    return this.#members.map(({ clientPort }) => `${scheme}127.0.0.1:${clientPort}`);
  }

  /** Starts a member (again); resolves when its port takes connections. */
  async run(at: number): Promise<void> {
    const member = this.#member(at);
    const { scheme = "http", flags = [] } = this.#options;
    const peer = (one: Member) => `http://127.0.0.1:${one.peerPort}`;
    const client = `${scheme}://127.0.0.1:${member.clientPort}`;
    const settings = {
      name: member.name,
      "data-dir": join(this.#folder, member.name),
      "listen-client-urls": client,
      "advertise-client-urls": client,
      "listen-peer-urls": peer(member),
      "initial-advertise-peer-urls": peer(member),
      "initial-cluster": this.#members.map((one) => `${one.name}=${peer(one)}`).join(),
      "log-level": "error",
    };
    const all = [...Object.entries(settings).map(([flag, value]) => `--${flag}=${value}`), "--logger=zap", ...flags];
    const started = spawn("etcd", all, { stdio: "ignore" });
    member.process = started;
    while (!(await this.#isListening(member))) {
      if (started.exitCode !== null) throw new Error(`etcd ended with ${started.exitCode}: ${all.join(" ")}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** SIGKILL ends it at once, SIGSTOP lets it hang, SIGCONT lets it go on. */
  async signal(at: number, signal: "SIGKILL" | "SIGSTOP" | "SIGCONT"): Promise<void> {
    const { process } = this.#member(at);
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
    process.kill(signal);
    if (signal === "SIGKILL") await once(process, "exit");
    // It goes on for a moment.
    while (signal === "SIGSTOP" && !(await isStopped(process.pid)))
      await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** Forgets what a member has stored; it must not run. */
  async wipe(at: number): Promise<void> {
    await rm(join(this.#folder, this.#member(at).name), { recursive: true, force: true });
  }

  /** What an operator does to the first member, over a connection of its own. */
  async operate<T>(work: (client: Etcd3) => Promise<T>): Promise<T> {
    const client = new Etcd3({ hosts: this.endpoints.slice(0, 1) });
    try {
      return await work(client);
    } finally {
      client.close();
    }
  }

  /** Which member leads; waits until one does. */
  async leader(): Promise<number> {
    for (;;) {
      for (const [at, { clientPort }] of this.#members.entries()) {
        const status = await fetch(`http://127.0.0.1:${clientPort}/v3/maintenance/status`, {
          method: "POST",
          body: "{}",
          signal: AbortSignal.timeout(500),
        }).then(
          (result) => result.json() as Promise<{ leader?: string; header?: { member_id?: string } }>,
          () => undefined,
        );
        if (status?.leader !== undefined && status.leader === status.header?.member_id) return at;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map((_, at) => this.signal(at, "SIGKILL")));
    await rm(this.#folder, { recursive: true, force: true });
  }

  #member(at: number): Member {
    const member = this.#members[at];
    if (member === undefined) throw new Error(`there is no member ${at}`);
    return member;
  }

  async #isListening({ clientPort }: Member): Promise<boolean> {
    // Without a leader it answers, too; with TLS it refuses, which is a result as well.
    return fetch(`http://127.0.0.1:${clientPort}/version`, { signal: AbortSignal.timeout(500) }).then(
      () => true,
      (thrown: unknown) => this.#options.scheme === "https" && !String(causeOf(thrown)).includes("ECONNREFUSED"),
    );
  }
}

async function isStopped(pid = 0): Promise<boolean> {
  return /^State:\s+T/m.test(await readFile(`/proc/${pid}/status`, "utf8"));
}

function causeOf(thrown: unknown): unknown {
  return thrown instanceof Error ? thrown.cause : thrown;
}

/** Ports that were free a moment ago, all different. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, "127.0.0.1");
      await once(server, "listening");
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
