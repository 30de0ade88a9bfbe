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
    const server = new InternalServer(routes, silentLogger);
    const { url } = await server.listen("127.0.0.1", 0);
    const answer = await fetch(`${url}/metrics?x=1`);
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await answer.text()).toContain("\nx 1\n");
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
    await expect(new InternalServer([], silentLogger).listen("127.0.0.1", port)).rejects.toThrow(
      /METRICS_PORT.*EADDRINUSE/,
    );
    await server[Symbol.asyncDispose]();
    await expect(fetch(`${url}/metrics`)).rejects.toThrow();
  });
});
