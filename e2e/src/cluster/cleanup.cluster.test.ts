import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { lacks } from "../needs.js";
import { NamespaceNetwork } from "./network-namespaces.js";

/** The compiled folder; `npm test` builds it before the tests run. */
const DIST = new URL("../../dist/cluster/", import.meta.url).href;
const OWNER = `
  import { mkdtempSync } from "node:fs";
  import { ClusterProcess } from "${DIST}cluster-process.js";
  import { NamespaceNetwork } from "${DIST}network-namespaces.js";
  import { undoAtEnd } from "${DIST}cleanup.js";
  import { rmSync } from "node:fs";
  const folder = mkdtempSync("/tmp/shoal-cleanup-");
  undoAtEnd(() => rmSync(folder, { recursive: true }));
  const { prefix } = new NamespaceNetwork().seat("one");
  const one = new ClusterProcess({
    name: "one", command: [...prefix, "sleep", "1000"], env: {}, logFile: folder + "/log", readyUrl: "",
  });
  one.spawn();
  console.log(JSON.stringify({ folder, pid: one.pid, namespace: prefix.at(-1) }));
  setInterval(() => {}, 1000);
`;

function isThere(namespace: string): boolean {
  return execFileSync("ip", ["netns", "list"], { encoding: "utf8" }).includes(namespace);
}

async function endedBy(signal: NodeJS.Signals) {
  const owner = spawn(process.execPath, ["--input-type=module", "-e", OWNER], { stdio: ["ignore", "pipe", "inherit"] });
  const line = await new Promise<string>((resolve) => owner.stdout.once("data", (text) => resolve(String(text))));
  const left = JSON.parse(line) as { readonly folder: string; readonly pid: number; readonly namespace: string };
  expect(existsSync(`/proc/${left.pid}`) && isThere(left.namespace) && existsSync(left.folder)).toBe(true);
  owner.kill(signal);
  const code = await new Promise((resolve) => owner.on("close", resolve));
  await expect.poll(() => existsSync(`/proc/${left.pid}`)).toBe(false);
  return { code, ...left };
}

it.skipIf(lacks("root", "ip", "nft"))(
  "a signal leaves no process, no namespace and no folder (needs root, ip, nft)",
  async () => {
    const { code, namespace, folder } = await endedBy("SIGINT");
    expect(code).toBe(130);
    expect(isThere(namespace)).toBe(false);
    expect(existsSync(folder)).toBe(false);
  },
);

it.skipIf(lacks("root", "ip", "nft"))(
  "what kill -9 leaves is removed by the next one (needs root, ip, nft)",
  async () => {
    const { namespace, folder } = await endedBy("SIGKILL");
    expect(isThere(namespace)).toBe(true);
    await using _ = new NamespaceNetwork();
    expect(isThere(namespace)).toBe(false);
    execFileSync("rm", ["-r", folder]);
  },
);
