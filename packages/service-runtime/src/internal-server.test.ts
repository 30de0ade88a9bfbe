import { Agent, request } from "node:http";
import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { type InternalRoute, InternalServer, metricsRoute, probeRoute } from "./internal-server.js";
import { silentLogger } from "./logger.js";
import { Metrics } from "./metrics.js";

describe("InternalServer", () => {
  it("serves metrics, probes and further routes, and closes", async () => {
    const metrics = new Metrics();
    metrics.gauge({ name: "x", help: "X." }, () => [{ value: 1 }]);
    let fault = "2 of 3 shards are open";
    const storage: InternalRoute = {
      path: "/storage/",
      methods: ["PUT"],
      async handle(request, response) {
        let body = "";
        for await (const chunk of request.setEncoding("utf8")) body += chunk;
        if (body === "break") throw new Error("broken");
        response.end(`${request.url} ${body}`);
      },
    };
    const routes = [metricsRoute(metrics), probeRoute("/ready", () => fault), storage];
    const server = new InternalServer(routes, silentLogger, { allowedHosts: [] });
    const { url } = await server.listen("127.0.0.1", 0);
    const result = await fetch(`${url}/metrics?x=1`);
    expect(result.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await result.text()).toContain("\nx 1\n");
    const notReady = await fetch(`${url}/ready`);
    expect(notReady.status).toBe(503);
    expect(await notReady.text()).toBe("2 of 3 shards are open\n");
    fault = "";
    const ready = await fetch(`${url}/ready`);
    expect(ready.status).toBe(200);
    expect(await ready.text()).toBe("");
    const put = (body: string) => fetch(`${url}/storage/a/b`, { method: "PUT", body });
    expect(await (await put("hello")).text()).toBe("/storage/a/b hello");
    expect((await put("break")).status).toBe(500);
    expect((await fetch(`${url}/storage/a`)).headers.get("allow")).toBe("PUT");
    expect((await fetch(`${url}/storage/a`)).status).toBe(405);
    expect((await fetch(`${url}/metrics/x`)).status).toBe(404);
    expect((await fetch(`${url}/`)).status).toBe(404);
    const port = Number(new URL(url).port);
    await expect(new InternalServer([], silentLogger, { allowedHosts: [] }).listen("127.0.0.1", port)).rejects.toThrow(
      /METRICS_PORT.*EADDRINUSE/,
    );
    await server[Symbol.asyncDispose]();
    await expect(fetch(`${url}/metrics`)).rejects.toThrow();
  });

  it("S2: answers probes beside any number of clients that say nothing, or not all", async () => {
    const server = new InternalServer([probeRoute("/live", () => "")], silentLogger, { allowedHosts: [] });
    const sockets: Socket[] = [];
    try {
      const { url } = await server.listen("127.0.0.1", 0);
      for (let at = 0; at < 200; at++) {
        const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => undefined);
        sockets.push(socket);
        await new Promise((resolve) => socket.once("connect", resolve));
        if (at % 2 === 0) socket.write("GET /live HTTP/1.1\r\n");
      }
      for (let at = 0; at < 3; at++) expect((await fetch(`${url}/live`)).status).toBe(200);
    } finally {
      for (const socket of sockets) socket.destroy();
      await server[Symbol.asyncDispose]();
    }
  });

  it("S2: cuts who asks again before he has his answer, whatever stands in one packet", async () => {
    let asked = 0;
    const route: InternalRoute = {
      path: "/metrics",
      methods: ["GET"],
      async handle(_, response) {
        asked++;
        await Promise.resolve();
        response.end("x".repeat(50_000));
      },
    };
    await using server = new InternalServer([route], silentLogger, { allowedHosts: [] });
    const { url } = await server.listen("127.0.0.1", 0);
    const port = Number(new URL(url).port);
    const get = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.pause().write(get.repeat(10_000));
    socket.resume();
    await closed;
    expect(asked).toBe(1);

    // One after the other on one connection is what scrapers do.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let at = 0; at < 20; at++) {
      const length = await new Promise((resolve, reject) => {
        request({ port, path: "/metrics", agent }, (response) => {
          let bytes = 0;
          response.on("data", (chunk: Buffer) => {
            bytes += chunk.length;
          });
          response.on("end", () => resolve(bytes));
        })
          .on("error", reject)
          .end();
      });
      expect(length).toBe(50_000);
    }
    agent.destroy();
    expect(asked).toBe(21);
  });

  it("S1: is for no foreign page, and for no name that was pointed here", async () => {
    let puts = 0;
    const storage: InternalRoute = {
      path: "/storage/",
      methods: ["PUT"],
      handle(_, response) {
        puts++;
        response.end();
      },
    };
    const routes = [metricsRoute(new Metrics()), probeRoute("/ready", () => ""), storage];
    await using server = new InternalServer(routes, silentLogger, { allowedHosts: ["db.lan"] });
    const { url } = await server.listen("127.0.0.1", 0);
    const { port } = new URL(url);
    const statusOf = (path: string, headers: Record<string, string>): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const method = path.startsWith("/storage/") ? "PUT" : "GET";
        request({ port, path, method, headers }, (response) => resolve(response.resume().statusCode))
          .on("error", reject)
          .end();
      });
    for (const path of ["/metrics", "/ready", "/storage/x", "/nowhere"]) {
      for (const headers of [
        { Origin: "http://evil.example" },
        { Origin: "null" },
        { "Sec-Fetch-Site": "cross-site" },
        { Host: "evil.example" },
      ]) {
        expect(await statusOf(path, headers)).toBe(403);
        // Also behind more headers than Node keeps by default.
        const many = Object.fromEntries(Array.from({ length: 2_500 }, (_, n) => [`a${n}`, ""]));
        const { Host = "localhost", ...others } = headers as Record<string, string>;
        expect(await statusOf(path, { Host, ...many, ...others })).toBe(403);
      }
    }
    expect(puts).toBe(0);
    for (const Host of [`localhost:${port}`, "127.0.0.1", "db.lan:1"])
      expect(await statusOf("/storage/x", { Host })).toBe(200);
    const result = await fetch(`${url}/metrics`);
    expect(result.headers.get("x-content-type-options")).toBe("nosniff");
    expect(result.headers.has("access-control-allow-origin")).toBe(false);
  });
});
