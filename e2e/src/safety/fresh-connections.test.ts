import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ServerProcess } from "../server-process.js";
import { percentile } from "./raw-connection.js";

const LEAVING_CLIENTS = fileURLToPath(new URL("../../dist/safety/leaving-clients.js", import.meta.url));
const CLIENTS = 50;
/** So long the flood goes on before somebody else comes: the queue of the kernel is full then. */
const FLOOD_MS = 4_000;
const FRESH = 30;
const FRESH_MS_MAX = 7_000;

let server: ServerProcess;

beforeAll(async () => {
  server = await ServerProcess.start();
  const { http } = server;
  expect((await http.post("/v1/schema", { class: "Item", vectorIndexConfig: { skip: true } })).status).toBe(200);
  for (let batch = 0; batch < 5; batch++) {
    const objects = Array.from({ length: 1_000 }, (_, i) => ({
      class: "Item",
      properties: { name: `item ${batch * 1_000 + i} ${"y".repeat(100)}` },
    }));
    expect((await http.post("/v1/batch/objects", { objects })).status).toBe(200);
  }
});
afterAll(() => server[Symbol.asyncDispose]());

/** Milliseconds that a request takes on a connection of its own. */
function askAnew(): Promise<number> {
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request({ port: server.port, path: "/v1/.well-known/live", agent: false }, (answer) => {
      answer.resume();
      answer.on("end", () => {
        if (answer.statusCode === 200) resolve(performance.now() - begun);
        else reject(new Error(`the server said ${answer.statusCode}`));
      });
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}

it("F10: fresh connections are accepted beside clients that leave before a large answer", async () => {
  const flood = spawn(process.execPath, [LEAVING_CLIENTS, String(server.port), String(CLIENTS)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const times: number[] = [];
  try {
    await once(flood.stdout, "data");
    await sleep(FLOOD_MS);
    const asked = Array.from({ length: FRESH }, () => askAnew().then((ms) => times.push(ms)));
    await Promise.race([Promise.all(asked), sleep(FRESH_MS_MAX)]);
    expect(flood.exitCode).toBeNull();
  } finally {
    flood.kill("SIGKILL");
  }
  console.log(`${times.length} fresh connections: p50 ${percentile(times, 0.5).toFixed(0)} ms`);
  expect(times.length).toBe(FRESH);
  // What nobody waits for any more is not gone on with.
  await expect.poll(() => askAnew(), { timeout: 30_000 }).toBeLessThan(500);
});
