import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { freePort, SERVER_MAIN } from "../server-process.js";
import { ClusterProcess } from "./cluster-process.js";
import { SlowLink } from "./slow-link.js";

let folder: string;
let server: ClusterProcess;
let port: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-process-"));
  port = await freePort();
  server = new ClusterProcess({
    name: "server",
    command: [process.execPath, SERVER_MAIN, "serve"],
    env: { HOST: "127.0.0.1", PORT: String(port), PERSISTENCE_DATA_PATH: join(folder, "data") },
    logFile: join(folder, "log"),
    readyUrl: `http://127.0.0.1:${port}/v1/.well-known/ready`,
  });
  await server.launch();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** The status of a request, or `nothing` when there is none in time. */
async function asked(at = port): Promise<number | "nothing"> {
  const init = { signal: AbortSignal.timeout(500) };
  return fetch(`http://127.0.0.1:${at}/v1/meta`, init).then(
    ({ status }) => status,
    () => "nothing" as const,
  );
}

it("is killed, stopped, paused and started again", async () => {
  const { pid } = server;
  expect(await asked()).toBe(200);
  server.pause();
  expect(await asked()).toBe("nothing");
  server.resume();
  await expect.poll(() => asked()).toBe(200);
  expect(server.pid).toBe(pid);
  await server.kill();
  expect(server.running).toBe(false);
  expect(await server.exited()).toEqual({ code: null, signal: "SIGKILL" });
  expect(await asked()).toBe("nothing");
  await server.launch();
  expect(server.pid).not.toBe(pid);
  await server.restart();
  expect(await asked()).toBe(200);
  await server.stop();
  await expect(server.ready()).rejects.toThrow("server ended before it was ready");
});

it("tells what it said when it does not start", async () => {
  await server.stop();
  const wrong = new ClusterProcess({ ...server.plan, env: { ...server.plan.env, PORT: "x" } });
  await expect(wrong.launch()).rejects.toThrow("PORT must be");
});

it("answers late over a slow link", async () => {
  await using link = await SlowLink.listen(port);
  expect(await asked(link.port)).toBe(200);
  link.speed = { delayMs: 400, bytesPerSecond: Number.POSITIVE_INFINITY };
  expect(await asked(link.port)).toBe("nothing");
  link.speed = { delayMs: 50, bytesPerSecond: 1_000_000 };
  const begun = performance.now();
  expect(await asked(link.port)).toBe(200);
  expect(performance.now() - begun).toBeGreaterThan(100);
});
