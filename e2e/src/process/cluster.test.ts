import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { HttpClient } from "../http-client.js";
import { SERVER_MAIN } from "../server-process.js";

const LAUNCHER = fileURLToPath(new URL("../../../scripts/dist/cluster/main.js", import.meta.url));
const WAIT = { timeout: 60_000, interval: 50 };
const OBJECTS = 300;

interface ListedProcess {
  readonly name: string;
  readonly role: string;
  readonly pid: number;
  readonly address: string;
}

let dataPath: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  dataPath = await mkdtemp(join(tmpdir(), "shoal-cluster-"));
});
afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
  for (const { pid } of await listed().catch(() => [])) await vi.waitFor(() => expect(isAlive(pid)).toBe(false), WAIT);
});
afterAll(() => rm(dataPath, { recursive: true, force: true }));

/** What `npm run cluster` runs, once everything is built. */
async function startCluster() {
  const child = spawn(process.execPath, [LAUNCHER], {
    env: { PATH: process.env.PATH, PORT: "0", PERSISTENCE_DATA_PATH: dataPath, LOG_LEVEL: "warn" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  await vi.waitFor(() => {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}\n${stderr}`);
    expect(stdout, stderr).toContain("serving on");
  }, WAIT);
  const [url = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(stdout) ?? [];
  const http = new HttpClient(url);
  return { child, ended, http, stdout: () => stdout, stderr: () => stderr };
}

async function listed(): Promise<readonly ListedProcess[]> {
  const text = await readFile(join(dataPath, "cluster.json"), "utf8");
  return (JSON.parse(text) as { readonly processes: readonly ListedProcess[] }).processes;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function textsFound(http: HttpClient): Promise<number> {
  const { text } = await http.graphql("{ Aggregate { Word { meta { count } } } }");
  const count = /"count":(\d+)/.exec(text)?.[1];
  if (count === undefined) throw new Error(text);
  return Number(count);
}

const words = Array.from({ length: OBJECTS }, (_, i) => ({
  class: "Word",
  id: `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`,
  properties: { text: `w${i}` },
  vector: [Math.cos(i), Math.sin(i), 0.1],
}));

describe("npm run cluster", () => {
  it("serves on one address, survives the loss of a process, and drains", async () => {
    const { child, ended, http, stdout } = await startCluster();
    expect(stdout()).toContain("2 gateways, 3 storage nodes, a coordinator");
    // S6: nobody without a certificate of this cluster gets in, not even one of this machine.
    const certificates = join(dataPath, "certificates");
    expect((await stat(certificates)).mode & 0o777).toBe(0o700);
    const before = await listed();
    const [gateway] = before;
    const variables = (await readFile(`/proc/${gateway?.pid}/environ`, "utf8")).split("\0");
    const { COORDINATOR_ADDRESSES = "", ...files } = Object.fromEntries(
      variables.flatMap((one) => {
        const [, name = "", value = ""] = /^(COORDINATOR_ADDRESSES|INTERNAL_TLS\w*)=(.*)$/.exec(one) ?? [];
        return name === "" ? [] : [[name, value] as const];
      }),
    );
    const asked = ["cluster", "remove", "no-such-node"];
    expect((await run(asked, { COORDINATOR_ADDRESSES, ...files })).text).toContain("there is no storage node");
    expect((await run(asked, { COORDINATOR_ADDRESSES })).text).not.toContain("storage node");
    expect(before.map(({ role }) => role)).toEqual([
      ...["gateway", "gateway", "storage-node", "storage-node", "storage-node", "coordinator"],
    ]);
    const created = await http.post("/v1/schema", {
      class: "Word",
      properties: [{ name: "text", dataType: ["text"] }],
    });
    expect(created.text).toContain('"actualCount":3');
    const batch = await http.post("/v1/batch/objects", { objects: words });
    expect(batch.status, batch.text).toBe(200);
    expect(batch.text).not.toContain('"errors":{');
    expect(await textsFound(http)).toBe(OBJECTS);

    // The store's addon would make the start of a gateway slow, and it has no use for a disk.
    for (const { pid } of before.filter(({ role }) => role === "gateway")) {
      expect(await readFile(`/proc/${pid}/maps`, "utf8")).not.toContain("rocksdb");
    }
    const table = await run(["cluster", "status", "--file", join(dataPath, "cluster.json")]);
    expect(table.text).toMatch(/^gateway-1 +gateway +ready/m);
    expect(table.text).toMatch(/^storage-node-3 +storage-node +healthy +[\d.]+ .* 1 {2}http/m);
    expect(table.status).toBe(0);

    const node = before.find(({ name }) => name === "storage-node-2");
    if (node === undefined) throw new Error("there is no storage-node-2");
    process.kill(node.pid, "SIGKILL");
    await vi.waitFor(async () => {
      const now = (await listed()).find(({ name }) => name === node.name);
      expect(now?.pid).not.toBe(node.pid);
      expect(now?.address).toBe(node.address);
      expect(await textsFound(http)).toBe(OBJECTS);
    }, WAIT);
    const ids = await Promise.all(words.map(async ({ id }) => (await http.send("HEAD", `/v1/objects/${id}`)).status));
    expect(new Set(ids)).toEqual(new Set([204]));

    const processes = await listed();
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(processes.filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(existsSync(join(dataPath, "cluster.json"))).toBe(false);
  });

  it("starts again with its data; its processes end when it is killed, and can be started once more", async () => {
    const first = await startCluster();
    expect(await textsFound(first.http)).toBe(OBJECTS);
    const { text } = await first.http.graphql(
      "{ Get { Word(nearVector: {vector: [1, 0, 0.1]}, limit: 1) { text _additional { id } } } }",
    );
    expect(text).toContain('"text":"w0"');
    const second = spawn(process.execPath, [LAUNCHER], {
      env: { PATH: process.env.PATH, PORT: "0", PERSISTENCE_DATA_PATH: dataPath },
    });
    children.push(second);
    let refusal = "";
    second.stderr.on("data", (chunk) => {
      refusal += chunk;
    });
    expect(await new Promise((resolve) => second.on("close", resolve))).toBe(1);
    expect(refusal).toMatch(/^shoal: the cluster in '.*' runs already: gateway-1 \(process \d+\) answers\n$/);

    const processes = await listed();
    first.child.kill("SIGKILL");
    await vi.waitFor(() => expect(processes.filter(({ pid }) => isAlive(pid))).toEqual([]), WAIT);
    const third = await startCluster();
    expect(await textsFound(third.http)).toBe(OBJECTS);
    third.child.kill("SIGINT");
    expect(await third.ended).toBe(0);
  });
});

async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number | null; readonly text: string }> {
  const child = spawn(process.execPath, [SERVER_MAIN, ...args], { env: { PATH: process.env.PATH, ...env } });
  let text = "";
  child.stderr.on("data", (chunk) => {
    text += chunk;
  });
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  return { status: await new Promise((resolve) => child.on("close", resolve)), text };
}
