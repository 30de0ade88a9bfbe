import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { importObjects } from "../import-objects.js";
import { lacks } from "../needs.js";
import { percentile } from "../safety/raw-connection.js";
import { ServerProcess } from "../server-process.js";
import { expectNotHeldUp } from "./held-up.js";

const SHIM = fileURLToPath(new URL("slow-sync.c", import.meta.url));
const READS = 300;
/** Each of three cases reads some of them idle, and up to three times beside. */
const ROWS = 3 * 4 * READS;

describe.skipIf(lacks("C compiler")).each([
  ["with the threads that it takes by itself", {}],
  ["with the four threads that its operator gave it", { UV_THREADPOOL_SIZE: "4" }],
])("F7: a disk that is slow, a server %s (needs a C compiler)", (_, threads) => {
  let folder: string;
  let control: string;
  let server: ServerProcess;
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const rows = Array.from({ length: ROWS }, () => randomUUID());
  let read = 0;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "shoal-slow-disk-"));
    control = join(folder, "control");
    const shim = join(folder, "slow-sync.so");
    execFileSync(process.env.CC ?? "cc", ["-shared", "-fPIC", "-O1", "-o", shim, SHIM, "-ldl"]);
    server = await ServerProcess.start({ env: { LD_PRELOAD: shim, SYNC_DELAY: control, ...threads } });
    expect((await server.http.post("/v1/schema", { class: "Other" })).status).toBe(200);
    await importObjects(
      server.http,
      rows.map((id, number) => ({ class: "Other", id, properties: { number }, vector: [1, 2] })),
    );
  });
  afterAll(async () => {
    agent.destroy();
    await server?.[Symbol.asyncDispose]();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  function send(method: string, path: string, body?: unknown): Promise<number> {
    const text = body === undefined ? "" : JSON.stringify(body);
    const headers =
      text === "" ? {} : { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) };
    const mine = method === "GET" ? { agent } : {};
    return new Promise((resolve, reject) => {
      const outgoing = request({ ...mine, port: server.port, method, path, headers }, (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
      });
      outgoing.on("error", reject);
      outgoing.end(text);
    });
  }

  async function timed(id: string | undefined): Promise<number> {
    const begun = performance.now();
    expect(await send("GET", `/v1/objects/${id}`)).toBe(200);
    return performance.now() - begun;
  }

  /** Rows that nobody has read since the start, and one that everybody reads. */
  async function readRows(): Promise<{ readonly uncached: number; readonly cached: number }> {
    const uncached: number[] = [];
    const cached: number[] = [];
    for (let i = 0; i < READS; i++) {
      uncached.push(await timed(rows[read++]));
      cached.push(await timed(rows[0]));
    }
    return { uncached: percentile(uncached, 0.99), cached: percentile(cached, 0.99) };
  }

  /** A class whose syncs take so long. */
  async function slowClass(name: string, shards: number, milliseconds: number): Promise<void> {
    const before = new Set(await readdir(join(server.dataPath, "shards")));
    const made = await server.http.post("/v1/schema", { class: name, shardingConfig: { desiredCount: shards } });
    expect(made.status).toBe(200);
    const objects = Array.from({ length: shards * 10 }, () => ({
      class: name,
      properties: { number: 1 },
      vector: [1, 2],
    }));
    await importObjects(server.http, objects);
    const [added, ...others] = (await readdir(join(server.dataPath, "shards"))).filter((one) => !before.has(one));
    expect([typeof added, others]).toEqual(["string", []]);
    // Caches are empty, and nothing is left to do.
    await server.restart();
    expect((await server.http.get(`/v1/objects/${rows[0]}`)).status).toBe(200);
    writeFileSync(control, `${milliseconds} ${added}`);
  }

  it.each([
    [4, 300],
    [40, 300],
    [40, 5_000],
  ])("%d shards whose syncs take %d ms hold up nobody who reads other ones", async (shards, milliseconds) => {
    writeFileSync(control, "");
    const name = `Slow${shards}x${milliseconds}`;
    await slowClass(name, shards, milliseconds);
    const idle = await readRows();
    let isOver = false;
    let written = 0;
    const write = async (): Promise<void> => {
      while (!isOver) {
        const status = await send("POST", "/v1/objects", { class: name, properties: { number: 2 }, vector: [1, 2] });
        expect([200, 503]).toContain(status);
        written++;
      }
    };
    const writers = Array.from({ length: shards * 4 }, write);
    try {
      // Each shard has a write under way.
      await sleep(1_000);
      await expectNotHeldUp(`${name}, p99 in ms`, idle, readRows);
    } finally {
      isOver = true;
      writeFileSync(control, "");
    }
    await Promise.all(writers);
    expect(written).toBeGreaterThan(0);
  });
});
