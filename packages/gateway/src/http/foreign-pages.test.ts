import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GatewaySettings } from "../create-gateway.js";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

const EVIL = "http://evil.example";
const APP = "https://app.example";
const OBJECT = { class: "Car", properties: { name: "a" } };
const CORS = ["access-control-allow-origin", "access-control-allow-methods", "access-control-allow-headers"];

async function withServer(settings: Partial<GatewaySettings>, use: (server: FakeGateway) => Promise<void>) {
  const server = await serveFakes({ allowedHosts: [], ...settings }, undefined, (_, response) => response.end("page"));
  try {
    await use(server);
  } finally {
    await server.gateway.stop();
  }
}

describe("S1: by default", () => {
  let server: FakeGateway;
  beforeAll(async () => {
    server = await serveFakes({ allowedHosts: [] }, undefined, (_, response) => response.end("page"));
  });
  afterAll(() => server.gateway.stop());

  const own = () => `localhost:${server.port}`;

  it.each([
    ["POST", "/v1/objects"],
    ["GET", "/v1/meta"],
    ["DELETE", "/v1/schema/Car"],
    ["OPTIONS", "/v1/objects"],
    ["OPTIONS", "/nowhere"],
    ["GET", "/"],
    ["GET", "/v1/nowhere"],
    ["PATCH", "/v1/schema"],
    ["GET", "/console"],
    ["GET", "/v1/.well-known/ready"],
    ["POST", "/v1/graphql"],
  ])("%s %s for a foreign page is 403, for our own it is not", async (method, path) => {
    const body = method === "POST" ? OBJECT : undefined;
    const asked = server.services.contexts.length;
    for (const headers of [
      { Origin: EVIL },
      { Origin: "null" },
      { "Sec-Fetch-Site": "cross-site" },
      { Origin: `http://localhost:${server.port + 1}`, "Sec-Fetch-Site": "same-site" },
    ]) {
      const response = await server.send(method, path, body, { Host: own(), ...headers });
      expect(response.status).toBe(403);
      expect(response.body).toContain("CORS_ALLOW_ORIGIN");
      for (const name of CORS) expect(response.headers.has(name), name).toBe(false);
      expect(response.headers.get("vary")).toBe("Origin");
    }
    expect(server.services.contexts.length).toBe(asked);
    const same = await server.send(method, path, body, { Host: own(), Origin: `http://${own()}` });
    expect(same.status).not.toBe(403);
    for (const name of CORS) expect(same.headers.has(name), name).toBe(false);
  });

  it.each([
    ["as a text", "Content-Type: text/plain"],
    ["as a form", "Content-Type: application/x-www-form-urlencoded"],
    ["without a type", "X: y"],
    ["with an expectation", "Expect: 100-continue"],
    ["as an upgrade", "Connection: Upgrade\r\nUpgrade: websocket"],
  ])("a foreign body %s is refused before any of it is there", async (_, header) => {
    const head = `POST /v1/objects HTTP/1.1\r\nHost: ${own()}\r\nOrigin: ${EVIL}\r\nContent-Length: 1000\r\n${header}\r\n\r\n`;
    expect(await server.raw(head)).toMatchObject({ status: 403 });
  });

  it("a pipelined request is looked at like the first", async () => {
    const get = `GET /v1/meta HTTP/1.1\r\nHost: ${own()}\r\n`;
    const responses = await new Promise<string>((resolve, reject) => {
      import("node:net").then(({ connect }) => {
        const socket = connect(server.port, "127.0.0.1", () =>
          socket.write(`${get}\r\n${get}Origin: ${EVIL}\r\n\r\n${get}Connection: close\r\n\r\n`),
        );
        let text = "";
        socket.on("data", (bytes) => {
          text += bytes;
        });
        socket.on("close", () => resolve(text)).on("error", reject);
      }, reject);
    });
    expect([...responses.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual(["200", "403", "200"]);
  });

  it.each([
    [`Origin: ${EVIL}`, 403],
    ["Sec-Fetch-Site: cross-site", 403],
    ["Host: evil.example", 400],
  ])("%s behind thousands of headers is looked at", async (header, status) => {
    const head = `GET /v1/meta HTTP/1.1\r\nHost: ${own()}\r\n${"a:\r\n".repeat(5_000)}`;
    expect(await server.raw(`${head}${header}\r\n\r\n`)).toMatchObject({ status });
    expect(await server.raw(`${head}\r\n`)).toMatchObject({ status: 200 });
  });

  it("a link leads to pages and to the API, a frame does not", async () => {
    const link = { Host: own(), "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate" };
    for (const path of ["/console", "/v1/meta"]) {
      expect((await server.send("GET", path, undefined, { ...link, "Sec-Fetch-Dest": "document" })).status).toBe(200);
      expect((await server.send("GET", path, undefined, { ...link, "Sec-Fetch-Dest": "iframe" })).status).toBe(403);
    }
  });

  it("a name that was pointed here is 403, whatever is asked for", async () => {
    for (const path of ["/v1/meta", "/console", "/v1/.well-known/live", "/"]) {
      const host = `evil.example:${server.port}`;
      const response = await server.send("GET", path, undefined, { Host: host, Origin: `http://${host}` });
      expect(response).toMatchObject({ status: 403, body: expect.stringContaining("ALLOWED_HOSTS") });
    }
    expect((await server.raw("GET /v1/meta HTTP/1.0\r\n\r\n"))?.status).toBe(200);
  });
});

describe("S1: CORS_ALLOW_ORIGIN", () => {
  it("admits the origins that it names", () =>
    withServer({ corsAllowOrigin: [APP] }, async (server) => {
      const Host = "localhost";
      const ask = { Host, Origin: APP, "Access-Control-Request-Method": "PUT" };
      const preflight = await server.send("OPTIONS", "/v1/objects", undefined, ask);
      expect(preflight.status).toBe(200);
      expect(CORS.map((name) => preflight.headers.get(name))).toEqual([
        APP,
        "*",
        "Content-Type, Authorization, Batch, X-Request-Id, *",
      ]);
      expect(preflight.headers.get("vary")).toBe("Origin");
      const response = await server.send("GET", "/v1/nowhere", undefined, { Host, Origin: APP, "X-Request-Id": "me" });
      expect(response.status).toBe(404);
      expect(response.headers.get("access-control-allow-origin")).toBe(APP);
      expect(response.headers.get("access-control-expose-headers")).toContain("X-Request-Id");
      const other = await server.send("OPTIONS", "/v1/objects", undefined, { ...ask, Origin: EVIL });
      expect(other.status).toBe(403);
      for (const name of CORS) expect(other.headers.has(name), name).toBe(false);
      expect((await server.send("GET", "/v1/meta", undefined, { Host })).headers.has(CORS[0] ?? "")).toBe(false);
    }));

  it("of * is what the reference does", () =>
    withServer({ corsAllowOrigin: ["*"] }, async (server) => {
      const Host = "localhost";
      for (const Origin of [EVIL, "null"]) {
        for (const path of ["/v1/meta", "/v1/nowhere"]) {
          const { headers } = await server.send("GET", path, undefined, { Host, Origin });
          expect(headers.get("access-control-allow-origin")).toBe("*");
        }
      }
      const preflight = await server.send("OPTIONS", "/v1/objects", undefined, { Host });
      expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
      const { headers } = await server.send("GET", "/v1/meta", undefined, { Host });
      expect(headers.has("access-control-allow-origin")).toBe(false);
    }));
});

describe("S11: answers", () => {
  it("are not to be guessed at, down to those that are no HTTP", () =>
    withServer({}, async (server) => {
      const Host = "localhost";
      for (const path of ["/v1/meta", "/v1/nowhere", "/"]) {
        const { headers } = await server.send("GET", path, undefined, { Host });
        expect(headers.get("x-content-type-options")).toBe("nosniff");
      }
      expect((await server.raw("no http\r\n\r\n"))?.headers.get("x-content-type-options")).toBe("nosniff");
    }));

  it("to a token in the URL are kept by nobody", () =>
    withServer({}, async (server) => {
      const Host = "localhost";
      for (const path of ["/v1/meta", "/v1/openapi.json", "/v1/nowhere", "/v1/objects/x"]) {
        const { headers } = await server.send("GET", `${path}?x=1&access_token=abc`, undefined, { Host });
        expect(headers.get("cache-control"), path).toBe("private, no-store");
        const without = await server.send("GET", path, undefined, { Host });
        expect(without.headers.get("cache-control") ?? "", path).not.toContain("no-store");
      }
    }));
});
