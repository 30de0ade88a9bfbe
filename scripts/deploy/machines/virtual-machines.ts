import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../source-tree.js";

/** What machines may write to, each its own: what is written lies over what this machine has. */
const OWN_FOLDERS = ["/etc", "/opt", "/root", "/var", "/run", "/usr/local"];

/** How a command ended. */
export interface Ended {
  readonly code: number;
  readonly output: string;
}

/**
 * Machines on one switch, each with processes, host name, network and files of its own; when they are disposed of nothing
 * is left of them. Needs root.
 */
export class VirtualMachines implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "shoal-machines-"));
  readonly #switch: ChildProcess;
  readonly #machines = new Map<string, ChildProcess>();

  private constructor() {
    this.#switch = spawn("unshare", ["--net", "sleep", "infinity"], { stdio: "ignore" });
  }

  /** Starts one machine an address, called `machine-1` and so on. Overlays cannot lie on overlays: they lie in memory. */
  static async start(addresses: readonly string[]): Promise<VirtualMachines> {
    const all = new VirtualMachines();
    const hub = pidOf(all.#switch);
    await untilOwn(hub, "net");
    inNetwork(hub, "ip", "link", "add", "hub", "type", "bridge");
    inNetwork(hub, "ip", "link", "set", "hub", "up");
    execFileSync("mount", ["-t", "tmpfs", "tmpfs", all.#folder]);
    // Where one machine finds the files of another.
    mkdirSync(join(all.#folder, "proc"));
    execFileSync("mount", ["--bind", "/proc", join(all.#folder, "proc")]);
    for (const [at, address] of addresses.entries()) await all.#add(`machine-${at + 1}`, address, at, hub);
    return all;
  }

  async #add(name: string, address: string, at: number, hub: number): Promise<void> {
    const folder = join(this.#folder, name);
    const overlays = OWN_FOLDERS.map((path) => {
      const [upper, work] = ["upper", "work"].map((kind) => join(folder, kind, path));
      for (const made of [upper, work]) mkdirSync(made ?? "", { recursive: true });
      return `mount -t overlay -o lowerdir=${path},upperdir=${upper},workdir=${work} overlay ${path}`;
    });
    const commands = [...overlays, `hostname ${name}`, "ip link set lo up", "echo up", "exec sleep infinity"];
    const kinds = ["--mount", "--uts", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
    const machine = spawn("unshare", [...kinds, "sh", "-c", commands.join(" && ")], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#machines.set(name, machine);
    await new Promise<void>((resolve, reject) => {
      machine.stdout?.once("data", () => resolve());
      machine.once("close", () => reject(new Error(`${name} does not start`)));
    });
    const inner = this.#pid(name);
    const cable = `cable${at}`;
    inNetwork(hub, "ip", "link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", String(inner));
    inNetwork(hub, "ip", "link", "set", cable, "master", "hub", "up");
    inNetwork(inner, "ip", "addr", "add", `${address}/24`, "dev", "eth0");
    inNetwork(inner, "ip", "link", "set", "eth0", "up");
    writeFileSync(join(this.#folder, "machines"), `${address} ${inner}\n`, { flag: "a" });
  }

  /** The first process of a machine, as this one counts. */
  #pid(name: string): number {
    const machine = this.#machines.get(name);
    if (machine === undefined) throw new Error(`there is no ${name}`);
    const first = pidOf(machine);
    return Number(readFileSync(`/proc/${first}/task/${first}/children`, "utf8"));
  }

  get names(): readonly string[] {
    return [...this.#machines.keys()];
  }

  /** Runs a bash script on a machine, in the repository; stops at the first command that fails. */
  run(name: string, script: string, timeoutMs: number): Promise<Ended> {
    const within = ["--target", String(this.#pid(name)), "--mount", "--uts", "--net", "--pid", `--wd=${root}`];
    const child = spawn("nsenter", [...within, "bash", "-euo", "pipefail", "-c", script], {
      env: { PATH: process.env.PATH, HOME: "/root", MACHINES: this.#folder },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: timeoutMs,
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
    return new Promise((resolve) => child.on("close", (code) => resolve({ code: code ?? -1, output })));
  }

  /** As if somebody pulled the plug. */
  cutPower(name: string): void {
    process.kill(this.#pid(name), "SIGKILL");
    this.#machines.delete(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#machines.values(), this.#switch];
    const ended = all.map((child) => new Promise((resolve) => child.once("close", resolve)));
    for (const name of this.names) this.cutPower(name);
    this.#switch.kill("SIGKILL");
    await Promise.all(ended);
    execFileSync("umount", ["--recursive", "--lazy", this.#folder]);
    rmSync(this.#folder, { recursive: true });
  }
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error("a process does not start");
  return child.pid;
}

function inNetwork(pid: number, ...command: readonly string[]): void {
  execFileSync("nsenter", ["--target", String(pid), "--net", ...command]);
}

/** `unshare` takes a moment. */
async function untilOwn(pid: number, kind: string): Promise<void> {
  const link = (of: number | string): string =>
    execFileSync("readlink", [`/proc/${of}/ns/${kind}`], { encoding: "utf8" });
  while (link(pid) === link("self")) await new Promise((resolve) => setTimeout(resolve, 10));
}
