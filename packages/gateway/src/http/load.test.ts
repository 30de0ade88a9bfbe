import { connect, type Socket } from "node:net";
import type { ObjectId } from "@shoal/model";
import { Metrics } from "@shoal/service-runtime/metrics";
import { describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";
import { PIPELINED_MAX } from "./connections.js";

const U = "11111111-1111-1111-1111-111111111111";
const GET = `GET /v1/objects/${U} HTTP/1.1\r\nHost: x\r\n\r\n`;

async function using(
  settings: Parameters<typeof serveFakes>[0],
  run: (server: FakeGateway, metrics: Metrics) => Promise<void>,
): Promise<void> {
  const metrics = new Metrics();
  const server = await serveFakes(settings, undefined, undefined, undefined, undefined, metrics);
  try {
    server.services.put({ id: U as ObjectId }, "{}");
    await run(server, metrics);
  } finally {
    await server.gateway.stop();
  }
}

async function open(server: FakeGateway): Promise<Socket> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  return socket;
}

/** The value of a series in the text of the metrics. */
async function metric(metrics: Metrics, series: string): Promise<number | undefined> {
  const line = (await metrics.text()).split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

describe("one connection", () => {
  it("may have a few requests waiting, answered in order", () =>
    using({}, async (server) => {
      const socket = await open(server);
      let received = "";
      socket.on("data", (chunk) => {
        received += String(chunk);
      });
      socket.write(GET.repeat(PIPELINED_MAX) + GET.replace(U, "none"));
      const statuses = (): readonly (string | undefined)[] =>
        [...received.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) => status);
      await expect.poll(statuses).toEqual([...Array.from({ length: PIPELINED_MAX }, () => "200"), "422"]);
      socket.destroy();
    }));

  it("answers those that may wait when there are more, refuses the next one and closes", () =>
    using({}, async (server, metrics) => {
      const socket = await open(server);
      let received = "";
      socket.on("data", (chunk) => {
        received += String(chunk);
      });
      const ended = new Promise((resolve) => socket.once("end", resolve));
      socket.write(GET.repeat(PIPELINED_MAX + 200));
      await ended;
      const statuses = [...received.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) => status);
      // The first one does not wait.
      expect(statuses).toEqual([...Array.from({ length: PIPELINED_MAX + 1 }, () => "200"), "429"]);
      const last = received.slice(received.lastIndexOf("HTTP/1.1 429"));
      expect(last).toMatch(/^Connection: close\r$/m);
      expect(last).toMatch(/^Retry-After: \d+\r$/m);
      await expect.poll(() => metric(metrics, "shoal_http_requests_in_flight")).toBe(0);
    }));

  it("is cut when far more wait, and others are served meanwhile", () =>
    using({ requestsInFlightMax: 400 }, async (server, metrics) => {
      server.services.gate = new Promise(() => {});
      const floods = await Promise.all(Array.from({ length: 5 }, () => open(server)));
      const ended = floods.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
      for (const socket of floods) socket.write(GET.repeat(2_000));
      await Promise.all(ended);
      expect(await metric(metrics, 'shoal_http_load_refusals_total{reason="pipeline"}')).toBe(5);
      await expect.poll(() => metric(metrics, "shoal_http_requests_in_flight")).toBe(0);
      server.services.gate = undefined;
      expect((await server.send("GET", `/v1/objects/${U}`)).status).toBe(200);
    }));

  it("that breaks with requests waiting leaves none of them in flight", () =>
    using({}, async (server, metrics) => {
      server.services.gate = new Promise(() => {});
      for (let i = 0; i < 5; i++) {
        const socket = await open(server);
        socket.write(GET.repeat(20));
        await expect.poll(() => metric(metrics, "shoal_http_requests_in_flight")).toBe(20);
        socket.destroy();
        await expect.poll(() => metric(metrics, "shoal_http_requests_in_flight")).toBe(0);
      }
    }));

  it("that does not take its answers is cut off", () =>
    using({ answerStallSeconds: 1 }, async (server, metrics) => {
      server.services.put({ id: U as ObjectId }, `{"text":"${"x".repeat(30 * 1024 * 1024)}"}`);
      const socket = await open(server);
      socket.pause();
      socket.write(GET);
      await expect.poll(() => metric(metrics, "shoal_http_stalled_connections_total")).toBe(1);
      await expect.poll(() => metric(metrics, "shoal_http_requests_in_flight")).toBe(0);
      expect(await metric(metrics, "shoal_http_unsent_answer_bytes")).toBe(0);
    }));

  it("whose handler is quiet for longer than that is not", () =>
    using({ answerStallSeconds: 1 }, async (server) => {
      server.services.gate = new Promise((resolve) => setTimeout(resolve, 2_500));
      expect((await server.send("GET", `/v1/objects/${U}`)).status).toBe(200);
    }));
});

describe("answers that clients do not take", () => {
  it("hold no more memory than they may: others get 429 until there is room again", () =>
    using({ answersBytesMax: 25 * 1024 * 1024, answerStallSeconds: 60 }, async (server, metrics) => {
      server.services.put({ id: U as ObjectId }, `{"text":"${"x".repeat(10 * 1024 * 1024)}"}`);
      const sockets = [await open(server), await open(server)];
      for (const socket of sockets) {
        socket.pause();
        socket.write(GET);
      }
      await expect.poll(() => metric(metrics, "shoal_http_unsent_answer_bytes")).toBeGreaterThan(20 * 1024 * 1024);
      const refused = await server.send("GET", `/v1/objects/${U}`);
      expect(refused).toMatchObject({ status: 429 });
      expect(refused.body).toContain("ANSWERS_BYTES_MAX");
      expect(refused.headers.get("retry-after")).toBe("1");
      expect((await server.send("GET", "/v1/meta")).status).toBe(200);
      sockets[0]?.destroy();
      await expect.poll(async () => (await server.send("GET", `/v1/objects/${U}`)).status).toBe(200);
      // Those that have had their time make room by themselves.
      const third = await open(server);
      third.pause();
      third.write(GET);
      await new Promise((resolve) => setTimeout(resolve, 5_500));
      expect((await server.send("GET", `/v1/objects/${U}`)).status).toBe(200);
      for (const socket of [...sockets, third]) socket.destroy();
    }));
});

describe("metrics of the HTTP server", () => {
  it("count requests by their route, never by what a client sent", () =>
    using({}, async (server, metrics) => {
      for (let i = 0; i < 3; i++) await server.send("GET", `/v1/objects/${U}`);
      await server.send("GET", `/v1/objects/${U.replaceAll("1", "2")}`);
      for (let i = 0; i < 50; i++) await server.send("GET", `/v1/stranger${i}`);
      for (let i = 0; i < 50; i++) await server.send("GET", `/v1/schema/Stranger${i}`);
      await server.send("POST", "/v1/objects/validate", { class: "Stranger" });
      await server.raw("GARBAGE\r\n\r\n");
      await server.raw("CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n");
      const get = 'route="/v1/objects/{id}",method="GET"';
      expect(await metric(metrics, `shoal_http_requests_total{${get},status="2xx"}`)).toBe(3);
      expect(await metric(metrics, `shoal_http_requests_total{${get},status="4xx"}`)).toBe(1);
      expect(await metric(metrics, `shoal_http_request_duration_seconds_count{${get}}`)).toBe(4);
      expect(await metric(metrics, 'shoal_http_requests_total{route="unrouted",method="",status="4xx"}')).toBe(52);
      expect(await metric(metrics, 'shoal_http_refusals_total{status="404"}')).toBe(101);
      expect(await metric(metrics, "shoal_http_request_body_bytes_total")).toBe('{"class":"Stranger"}'.length);
      expect(await metrics.text()).not.toMatch(/stranger/i);
    }));

  it("count GraphQL queries by their way, their errors, and batch items by outcome", () =>
    using({}, async (server, metrics) => {
      await server.send("POST", "/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
      const ask = (query: string) => server.send("POST", "/v1/graphql", { query });
      await ask("{ Get { Car { name } } }");
      await ask("{ Get { Car { name } } __schema { queryType { name } } }");
      await ask("{ Get { Nothing { name } } }");
      await ask("{");
      expect(await metric(metrics, 'shoal_graphql_queries_total{kind="prepared"}')).toBe(1);
      expect(await metric(metrics, 'shoal_graphql_queries_total{kind="plain"}')).toBe(3);
      expect(await metric(metrics, "shoal_graphql_errors_total")).toBe(2);
      await server.send("POST", "/v1/batch/objects", { objects: [{ class: "Car" }, null, { class: "Car" }] });
      expect(await metric(metrics, 'shoal_batch_items_total{outcome="written"}')).toBe(2);
      expect(await metric(metrics, 'shoal_batch_items_total{outcome="failed"}')).toBe(1);
    }));
});
