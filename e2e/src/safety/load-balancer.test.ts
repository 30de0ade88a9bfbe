import { Agent, request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServerProcess } from "../server-process.js";

const ID = "11111111-1111-4111-8111-111111111111";
const REQUESTS = Number(process.env.DRAIN_REQUESTS ?? 20_000);
const CLIENTS = 32;

/** One server as a load balancer sees it: a pool of kept connections, and whether it said ready lately. */
class Backend implements Disposable {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 60_000 });
  readonly #watch: NodeJS.Timeout;
  isReady = true;

  constructor(readonly server: ServerProcess) {
    this.#watch = setInterval(() => {
      fetch(`${server.url}/v1/.well-known/ready`).then(
        ({ status }) => {
          this.isReady = status === 200;
        },
        () => {
          this.isReady = false;
        },
      );
    }, 100);
  }

  /** The status of a request over a kept connection; a request is never sent twice. */
  ask(method: string, path: string, body?: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { "Content-Type": "application/json" };
      const outgoing = httpRequest({ agent: this.#agent, port: this.server.port, method, path, headers }, (answer) => {
        answer.on("error", reject);
        answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#watch);
    this.#agent.destroy();
  }
}

const servers: ServerProcess[] = [];

beforeAll(async () => {
  for (let i = 0; i < 2; i++) {
    const server = await ServerProcess.start({ env: { DRAIN_DELAY_SECONDS: "1" } });
    servers.push(server);
    await server.http.post("/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
    await server.http.post("/v1/objects", { class: "Car", id: ID, vector: [1, 2], properties: { name: "a" } });
  }
});
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
});

describe("S12 behind a load balancer", () => {
  it("announced restarts fail no request", async () => {
    const backends = servers.map((server) => new Backend(server));
    let sent = 0;
    let restarting = true;
    const failures: string[] = [];
    const perBackend = backends.map(() => 0);
    const client = async (): Promise<void> => {
      while (sent < REQUESTS || restarting) {
        const turn = sent++;
        const ready = backends.filter(({ isReady }) => isReady);
        const backend = ready[turn % ready.length];
        if (backend === undefined) throw new Error("no server is ready");
        perBackend[backends.indexOf(backend)] = (perBackend[backends.indexOf(backend)] ?? 0) + 1;
        try {
          const status =
            turn % 10 === 0
              ? await backend.ask("POST", "/v1/objects/validate", '{"class":"Car","properties":{"name":"b"}}')
              : await backend.ask("GET", `/v1/objects/${ID}`);
          if (status !== 200) failures.push(`status ${status}`);
        } catch (error) {
          failures.push(String(error));
        }
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    for (const { server } of backends) {
      const { code } = await server.stop();
      expect(code).toBe(0);
      await server.launch();
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    restarting = false;
    await Promise.all(clients);
    for (const backend of backends) backend[Symbol.dispose]();
    console.log(`S12: ${sent} requests through two restarts, ${perBackend.join(" and ")} a server`);
    expect(failures).toEqual([]);
    expect(sent).toBeGreaterThanOrEqual(REQUESTS);
    expect(Math.min(...perBackend)).toBeGreaterThan(REQUESTS / 10);
  });

  it("a batch that is under way when the signal comes is finished and acknowledged", async () => {
    const server = servers[0];
    if (server === undefined) throw new Error("no server");
    const vector = Array.from({ length: 64 }, (_, i) => i / 64);
    const objects = Array.from({ length: 10_000 }, (_, i) => ({
      class: "Car",
      vector: vector.slice(0, 2),
      properties: { name: `n${i}` },
    }));
    const answer = server.http.post("/v1/batch/objects", { objects });
    await new Promise((resolve) => setTimeout(resolve, 150));
    const stopped = server.stop();
    const { status, json, headers } = await answer;
    expect(status).toBe(200);
    expect((json as readonly { result?: { errors?: unknown } }[]).filter(({ result }) => result?.errors)).toEqual([]);
    expect((await stopped).code).toBe(0);
    expect(headers.get("connection")).toMatch(/close|keep-alive/);
    await server.launch();
    const counted = await server.http.get("/v1/objects?class=Car&limit=10000");
    expect((counted.json as { totalResults: number }).totalResults).toBe(10_000);
  });

  it("an idle connection stays open for as long as it is told", async () => {
    await using server = await ServerProcess.start({ env: { HTTP_KEEP_ALIVE_SECONDS: "3" } });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (): Promise<{ readonly reused: boolean; readonly keepAlive: string | undefined }> =>
      new Promise((resolve, reject) => {
        const outgoing = httpRequest({ agent, port: server.port, path: "/v1/meta" }, (answer) => {
          const keepAlive = answer.headers["keep-alive"];
          answer.resume().on("end", () => resolve({ reused: outgoing.reusedSocket, keepAlive: String(keepAlive) }));
        });
        outgoing.on("error", reject);
        outgoing.end();
      });
    expect(await ask()).toEqual({ reused: false, keepAlive: "timeout=3" });
    await new Promise((resolve) => setTimeout(resolve, 2_300));
    expect(await ask()).toEqual({ reused: true, keepAlive: "timeout=3" });
    agent.destroy();
  });
});
