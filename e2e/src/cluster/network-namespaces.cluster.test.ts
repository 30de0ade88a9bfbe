import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { lacks } from "../needs.js";
import { ClusterProcess } from "./cluster-process.js";
import { NamespaceNetwork } from "./network-namespaces.js";

/** Sends datagrams when it is asked to over HTTP, and tells which ones it got. Datagrams, as TCP needs both directions. */
const TALKER = `
  const got = [];
  const socket = require("node:dgram").createSocket("udp4").on("message", (text) => got.push(String(text)));
  socket.bind(5000, process.env.ME);
  require("node:http").createServer((question, answer) => {
    const { pathname, searchParams } = new URL(question.url, "http://talker");
    if (pathname === "/send") socket.send(process.env.ME, 5000, searchParams.get("to"), () => answer.end());
    else answer.end(JSON.stringify(got.splice(0)));
  }).listen(8080, process.env.ME);
`;
const NAMES = ["a", "b", "c"];

let network: NamespaceNetwork;
let folder: string;
const talkers: ClusterProcess[] = [];
const hostOf = (name: string): string => network.seat(name).host;

beforeAll(async () => {
  network = new NamespaceNetwork();
  folder = await mkdtemp(join(tmpdir(), "shoal-network-"));
  for (const name of NAMES) {
    const { host, prefix } = network.seat(name);
    const command = [...prefix, process.execPath, "-e", TALKER];
    const readyUrl = `http://${host}:8080/`;
    const talker = new ClusterProcess({ name, command, env: { ME: host }, logFile: join(folder, name), readyUrl });
    talkers.push(talker);
    await talker.launch();
  }
});
afterAll(async () => {
  for (const talker of talkers) await talker[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** Who hears whom, each as `from>to`. */
async function heard(): Promise<readonly string[]> {
  for (const from of NAMES) {
    for (const to of NAMES) if (from !== to) await fetch(`http://${hostOf(from)}:8080/send?to=${hostOf(to)}`);
  }
  // What arrives does so at once.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const nameOf = new Map(NAMES.map((name) => [hostOf(name), name]));
  const lists = NAMES.map(async (to) => {
    const got = (await (await fetch(`http://${hostOf(to)}:8080/`)).json()) as readonly string[];
    return got.map((host) => `${nameOf.get(host)}>${to}`);
  });
  return (await Promise.all(lists)).flat().sort();
}

it.skipIf(lacks("root", "ip", "nft"))(
  "cuts links one way and both ways, isolates one from all, and heals (needs root, ip, nft)",
  async () => {
    const all = ["a>b", "a>c", "b>a", "b>c", "c>a", "c>b"];
    expect(await heard()).toEqual(all);
    network.cutOneWay("a", "b");
    expect(await heard()).toEqual(all.filter((one) => one !== "a>b"));
    network.cut("a", "b");
    expect(await heard()).toEqual(["a>c", "b>c", "c>a", "c>b"]);
    network.heal();
    expect(await heard()).toEqual(all);
    network.isolate("c", "from it");
    expect(await heard()).toEqual(["a>b", "a>c", "b>a", "b>c"]);
    network.heal();
    network.isolate("c", "to it");
    expect(await heard()).toEqual(["a>b", "b>a", "c>a", "c>b"]);
    network.isolate("c", "both ways");
    expect(await heard()).toEqual(["a>b", "b>a"]);
    network.heal();
    expect(await heard()).toEqual(all);
  },
);
