import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { clusterStatus, statusTable } from "./cluster-status.js";

const NODE = { status: "HEALTHY", version: "0.1.0", gitHash: "abcdef0123", stats: { objectCount: 12, shardCount: 3 } };

let folder: string;
const servers: Server[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-status-"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await rm(folder, { recursive: true, force: true });
});

/** A server that answers paths with a status and a body: text as it is, anything else as JSON. */
async function serve(responses: Record<string, readonly [number, unknown]>): Promise<string> {
  const server = createServer(({ url = "" }, response) => {
    const [status, body] = responses[url] ?? [404, ""];
    response.statusCode = status;
    response.setHeader("content-type", typeof body === "string" ? "text/plain" : "application/json");
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function fileOf(processes: readonly object[]): Promise<string> {
  const file = join(folder, "cluster.json");
  await writeFile(file, JSON.stringify({ processes }));
  return file;
}

const GATEWAY = (nodes: unknown) => ({
  "/v1/.well-known/ready": [200, ""] as const,
  "/v1/nodes": [200, { nodes }] as const,
});

describe("clusterStatus", () => {
  it("joins what processes and gateways say", async () => {
    const gateway = await serve(
      GATEWAY([
        { name: "n1", ...NODE },
        { name: "n2", ...NODE, status: "UNHEALTHY" },
      ]),
    );
    const well = await serve({ "/ready": [200, ""] });
    const file = await fileOf([
      { name: "g1", role: "gateway", pid: 1, address: gateway },
      { name: "n1", role: "storage-node", pid: 2, address: well },
      {
        name: "n2",
        role: "storage-node",
        pid: 3,
        address: await serve({ "/ready": [503, "2 of 3 shards are open\n"] }),
      },
      { name: "c1", role: "coordinator", pid: 4, address: "http://127.0.0.1:1" },
    ]);
    const rows = await clusterStatus({ file });
    expect(rows.map(({ name, state, isWell, objects }) => [name, state, isWell, objects])).toEqual([
      ["g1", "ready", true, ""],
      ["c1", "does not answer", false, ""],
      ["n1", "healthy", true, "12"],
      ["n2", "not ready: 2 of 3 shards are open", false, "12"],
    ]);
    const [head = "", first = ""] = statusTable(rows).split("\n");
    expect(head).toMatch(/^NAME +ROLE +STATE +VERSION +OBJECTS +SHARDS +ADDRESS$/);
    expect(first).toMatch(/^g1 +gateway +ready +http:/);
  });

  it("asks one gateway, which tells all nodes", async () => {
    const target = await serve(
      GATEWAY([
        { name: "n1", ...NODE },
        { name: "n2", name2: 1, status: "UNAVAILABLE" },
      ]),
    );
    const rows = await clusterStatus({ target: `${target}/` });
    expect(rows.map(({ name, version, isWell, shards }) => [name, version, isWell, shards])).toEqual([
      [new URL(target).host, "", true, ""],
      ["n1", "0.1.0 (abcdef0)", true, "3"],
      ["n2", "", false, ""],
    ]);
  });

  it("says that no gateway answers, that a token is needed, and what cannot be read", async () => {
    const down = await clusterStatus({ target: "http://127.0.0.1:1" });
    expect(down.map(({ state, isWell }) => [state, isWell])).toEqual([
      ["does not answer", false],
      ["no gateway answers it", false],
    ]);
    const guarded = await serve({ "/v1/nodes": [401, {}] });
    await expect(clusterStatus({ target: guarded })).rejects.toThrow("give a --token that may read");
    await expect(clusterStatus({ file: join(folder, "none") })).rejects.toThrow(/none' cannot be read/);
    await expect(clusterStatus({})).rejects.toThrow("either --target or --file");
  });
});
