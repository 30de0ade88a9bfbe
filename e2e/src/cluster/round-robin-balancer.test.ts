import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { HttpClient } from "../http-client.js";
import { RoundRobinBalancer } from "./round-robin-balancer.js";

let gateways: { server: Server; isReady: boolean; seen: string[] }[];
let balancer: RoundRobinBalancer;
let http: HttpClient;

beforeEach(async () => {
  gateways = await Promise.all(
    [0, 1].map(async (number) => {
      const gateway = { server: createServer(), isReady: true, seen: [] as string[] };
      gateway.server.on("request", (question, answer) => {
        if (question.url === "/v1/.well-known/ready") {
          answer.writeHead(gateway.isReady ? 200 : 503).end();
          return;
        }
        let body = "";
        question.on("data", (chunk) => {
          body += chunk;
        });
        question.on("end", () => {
          gateway.seen.push(`${question.method} ${question.url} ${question.headers["x-own"]} ${body}`);
          if (question.url === "/broken") answer.destroy();
          else answer.writeHead(201, { "X-Gateway": number, Allow: "GET" }).end(body.toUpperCase());
        });
      });
      await new Promise<void>((resolve) => gateway.server.listen(0, "127.0.0.1", resolve));
      return gateway;
    }),
  );
  balancer = await RoundRobinBalancer.listen(
    gateways.map(({ server }) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  );
  http = new HttpClient(balancer.url);
});
afterEach(async () => {
  await balancer[Symbol.asyncDispose]();
  for (const { server } of gateways) {
    server.closeAllConnections();
    server.close();
  }
});

it("sends each request to the next gateway and changes nothing about it", async () => {
  for (let i = 0; i < 4; i++) {
    const answer = await http.send("PUT", `/v1/x%2Fy?a=${i}`, `b${i}`, { "X-Own": "o" });
    expect(answer.status).toBe(201);
    expect(answer.text).toBe(`B${i}`);
    expect(answer.headers.get("allow")).toBe("GET");
  }
  expect(gateways.map(({ seen }) => seen)).toEqual([
    ["PUT /v1/x%2Fy?a=0 o b0", "PUT /v1/x%2Fy?a=2 o b2"],
    ["PUT /v1/x%2Fy?a=1 o b1", "PUT /v1/x%2Fy?a=3 o b3"],
  ]);
  expect(balancer.broken).toEqual([]);
});

it("leaves out a gateway that is not ready", async () => {
  const [first] = gateways;
  if (first !== undefined) first.isReady = false;
  await expect
    .poll(async () => [await http.get("/a"), await http.get("/a")].map(({ headers }) => headers.get("x-gateway")))
    .toEqual(["1", "1"]);
  for (const one of gateways) one.isReady = false;
  await expect.poll(async () => (await http.get("/a")).status).toBe(503);
});

it("answers 502 and remembers it when a gateway breaks the connection, and asks no other", async () => {
  expect((await http.get("/broken")).status).toBe(502);
  expect(balancer.broken).toEqual([expect.stringContaining("GET /broken")]);
  expect(gateways.flatMap(({ seen }) => seen)).toHaveLength(1);
});
