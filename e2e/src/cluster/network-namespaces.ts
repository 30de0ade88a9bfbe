import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { undoAtEnd } from "./cleanup.js";
import type { ClusterNetwork, Seat } from "./cluster-network.js";

/** All names of ours begin so, then comes the process that made them. An interface's name has at most 15 characters. */
const OURS = /^shl(\d+)/;
const HOST = 1;
const FIRST_SEAT = 2;

let networks = 0;

/**
 * A machine of its own, as far as the network goes, for each process: a network namespace with one interface on a bridge.
 * We sit at the bridge and reach everybody, whatever is cut. Needs root, `ip` and `nft`. The addresses are those that are
 * set aside for tests of network devices (198.18.0.0/15, RFC 2544).
 */
export class NamespaceNetwork implements ClusterNetwork {
  readonly #bridge: string;
  readonly #subnet: string;
  readonly #hosts = new Map<string, { readonly host: string; readonly namespace: string }>();
  readonly #undo: Disposable;

  constructor() {
    removeAbandoned();
    this.#bridge = `shl${process.pid}b${networks++}`;
    this.#undo = undoAtEnd(() => this.#remove());
    ip("link", "add", this.#bridge, "type", "bridge");
    this.#subnet = takeSubnet(this.#bridge);
    ip("link", "set", this.#bridge, "up");
  }

  seat(name: string): Seat {
    const { host, namespace } = this.#hosts.get(name) ?? this.#add(name);
    return { host, prefix: ["ip", "netns", "exec", namespace], port: async (usual) => usual };
  }

  #add(name: string): { readonly host: string; readonly namespace: string } {
    const number = FIRST_SEAT + this.#hosts.size;
    const namespace = `${this.#bridge}n${number}`;
    const host = `${this.#subnet}.${number}`;
    this.#hosts.set(name, { host, namespace });
    const outside = `${this.#bridge}v${number}`;
    ip("netns", "add", namespace);
    ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", namespace);
    ip("link", "set", outside, "master", this.#bridge, "up");
    ip("-n", namespace, "link", "set", "lo", "up");
    ip("-n", namespace, "addr", "add", `${host}/24`, "dev", "eth0");
    ip("-n", namespace, "link", "set", "eth0", "up");
    this.#nft(
      name,
      "add table inet cut; add set inet cut lost { type ipv4_addr; }; " +
        "add chain inet cut input { type filter hook input priority 0; }; " +
        "add rule inet cut input ip saddr @lost drop",
    );
    return { host, namespace };
  }

  /** From now on nothing that `from` sends reaches `to`; connections stay open and hear nothing. */
  cutOneWay(from: string, to: string): void {
    this.#nft(to, `add element inet cut lost { ${this.#of(from).host} }`);
  }

  cut(a: string, b: string): void {
    this.cutOneWay(a, b);
    this.cutOneWay(b, a);
  }

  /** Between `name` and everybody else; one way: nothing that `name` sends arrives any more, or nothing reaches it. */
  isolate(name: string, way: "both ways" | "from it" | "to it"): void {
    for (const other of this.#hosts.keys()) {
      if (other === name) continue;
      if (way !== "to it") this.cutOneWay(name, other);
      if (way !== "from it") this.cutOneWay(other, name);
    }
  }

  /** All links are whole again. */
  heal(): void {
    for (const name of this.#hosts.keys()) this.#nft(name, "flush set inet cut lost");
  }

  #of(name: string): { readonly host: string; readonly namespace: string } {
    const found = this.#hosts.get(name);
    if (found === undefined) throw new Error(`nobody sits at ${name}`);
    return found;
  }

  #nft(name: string, commands: string): void {
    ip("netns", "exec", this.#of(name).namespace, "nft", commands);
  }

  #remove(): void {
    for (const { namespace } of this.#hosts.values()) tryIp("netns", "del", namespace);
    tryIp("link", "del", this.#bridge);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#undo[Symbol.dispose]();
  }
}

function ip(...args: readonly string[]): string {
  return execFileSync("ip", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function tryIp(...args: readonly string[]): void {
  try {
    ip(...args);
  } catch {
    // Gone already, or never made.
  }
}

/** What a process left behind that was killed before it could clean up. */
function removeAbandoned(): void {
  const isAbandoned = (name: string): boolean => {
    const pid = OURS.exec(name)?.[1];
    return pid !== undefined && !existsSync(`/proc/${pid}`);
  };
  const namesIn = (list: string): readonly string[] =>
    list.split("\n").map((line) => /^(?:\d+: )?([^\s:@]+)/.exec(line)?.[1] ?? "");
  for (const name of namesIn(ip("netns", "list"))) if (isAbandoned(name)) tryIp("netns", "del", name);
  for (const name of namesIn(ip("-o", "link", "show", "type", "bridge")))
    if (isAbandoned(name)) tryIp("link", "del", name);
}

/** The first three numbers of a network that only `bridge` has from now on; other processes may take theirs at the same time. */
function takeSubnet(bridge: string): string {
  for (let attempt = 0; attempt < 100; attempt++) {
    const subnet = `198.${18 + Math.floor(Math.random() * 2)}.${Math.floor(Math.random() * 256)}`;
    const address = `${subnet}.${HOST}/24`;
    ip("addr", "add", address, "dev", bridge);
    // Of two who took it, at least the later one sees both.
    if (ip("-o", "-4", "addr", "show").split(` ${subnet}.`).length === 2) return subnet;
    ip("addr", "del", address, "dev", bridge);
  }
  throw new Error("no network of 198.18.0.0/15 is free");
}
