import { type ObjectId, ShoalError } from "@shoal/model";
import { createLogger, type LogLevel } from "@shoal/service-runtime";
import { Metrics } from "@shoal/service-runtime/metrics";
import { describe, expect, it } from "vitest";
import { type AccessControl, OPEN_ACCESS } from "../auth/access.js";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

const U = "11111111-1111-1111-1111-111111111111";
const SECRET = "s3cr3tValue";

type Line = Readonly<Record<string, unknown>>;

/** Runs against a gateway and gives what it logged. */
async function logOf(
  level: LogLevel,
  run: (server: FakeGateway) => Promise<void>,
  settings: Parameters<typeof serveFakes>[0] = {},
  parts: { readonly access?: AccessControl; readonly metrics?: Metrics } = {},
): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const sink = { write: (line: string) => lines.push(JSON.parse(line) as Line) };
  const logger = createLogger({ logFormat: "json", logLevel: level }, sink);
  const server = await serveFakes(settings, undefined, undefined, logger, parts.access, parts.metrics);
  try {
    server.services.put({ id: U as ObjectId }, "{}");
    await run(server);
  } finally {
    await server.gateway.stop();
  }
  return lines;
}

describe("the id of a request", () => {
  it("is the client's own when it is short and printable, and is told back", async () => {
    await logOf("info", async (server) => {
      for (const id of ["a", "trace-1/2:3=4+5@6.7_8", "x".repeat(128)]) {
        const response = await server.send("GET", `/v1/objects/${U}`, undefined, { "X-Request-Id": id });
        expect(response.headers.get("x-request-id")).toBe(id);
      }
      for (const id of ["", "a b", "ä", "x".repeat(129), 'a"b', "a\tb"]) {
        const response = await server.send("GET", `/v1/objects/${U}`, undefined, { "X-Request-Id": id });
        expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f]{8}-\w+$/);
      }
      expect((await server.send("GET", `/v1/objects/${U}`)).headers.has("x-request-id")).toBe(false);
    });
  });

  it("is not the client's own when that looks like one that is made", async () => {
    await logOf("info", async (server) => {
      const made = (await server.send("GET", "/v1/nothing")).headers.get("x-request-id") ?? "";
      expect(made).toMatch(/^[0-9a-f]{8}-0$/);
      for (const id of [made, `${made.slice(0, 9)}zz`]) {
        const response = await server.send("GET", "/v1/nothing", undefined, { "X-Request-Id": id });
        expect(response.headers.get("x-request-id")).not.toBe(id);
        expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f]{8}-\w+$/);
      }
    });
  });

  it("is made for what fails, and another one each time", async () => {
    await logOf("info", async (server) => {
      const ids = new Set<string | undefined>();
      for (let i = 0; i < 5; i++) ids.add((await server.send("GET", "/v1/nothing")).headers.get("x-request-id"));
      expect(ids.size).toBe(5);
      expect(ids.has(undefined)).toBe(false);
    });
  });
});

describe("lines about requests", () => {
  it("are written for each one at debug, and for none at info", async () => {
    const use = async (server: FakeGateway): Promise<void> => {
      await server.send("GET", `/v1/objects/${U}?include=vector`, undefined, { "X-Request-Id": "r-1" });
      await server.send("GET", "/v1/nothing");
    };
    expect(await logOf("info", use)).toEqual([]);
    const lines = await logOf("debug", use);
    expect(lines).toMatchObject([
      {
        level: "debug",
        message: "answered",
        requestId: "r-1",
        operation: "GET /v1/objects/{id}",
        target: `/v1/objects/${U}?include=vector`,
        status: 200,
        username: "anonymous",
        client: "127.0.0.1",
        bodyBytes: 0,
      },
      { operation: "GET", target: "/v1/nothing", status: 404 },
    ]);
    expect(lines[0]?.answerBytes).toBeGreaterThan(10);
    expect(lines[0]?.durationMs).toEqual(expect.any(Number));
  });

  it("say of a fault of ours what it was, with the id that the client got", async () => {
    const lines = await logOf("info", async (server) => {
      server.services.failure = new TypeError("x is not a function");
      const response = await server.send("GET", `/v1/objects/${U}`, undefined, { "X-Request-Id": "r-2" });
      expect(response).toMatchObject({ status: 500, body: '{"error":[{"message":"internal server error"}]}\n' });
      expect(response.headers.get("x-request-id")).toBe("r-2");
    });
    expect(lines).toMatchObject([
      {
        level: "error",
        requestId: "r-2",
        operation: "GET /v1/objects/{id}",
        error: { message: "x is not a function" },
      },
    ]);
  });

  it("hold no secret, wherever a client puts it", async () => {
    const lines = await logOf(
      "debug",
      async (server) => {
        const headers = {
          Authorization: `Basic ${SECRET}`,
          Cookie: `session=${SECRET}; token=${SECRET}`,
          "Proxy-Authorization": `Basic ${SECRET}`,
          "X-Api-Key": SECRET,
        };
        const targets = [
          `/v1/objects/${U}?access_token=${SECRET}&x=1`,
          `/v1/objects/${U}?access%5Ftoken=${SECRET}`,
          `/v1/objects/${U}?a=1&ACCESS_TOKEN=${SECRET}&refresh_token=${SECRET}`,
          `/v1/nothing?password=${SECRET}`,
          `http://user:x@host/v1/objects/${U}?token=${SECRET}`,
        ];
        for (const target of targets) await server.send("GET", target, undefined, headers);
        const query = `{ Get { Car(where: {operator: Equal, path: ["password"], valueString: "Bearer ${SECRET}"}) { name } } }`;
        await server.send("POST", "/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
        server.services.failure = new Error(`Authorization: Bearer ${SECRET} password=${SECRET}`);
        await server.send("POST", "/v1/graphql", { query, variables: { token: SECRET } }, headers);
        await server.send("POST", "/v1/objects", { class: "Car", properties: { password: SECRET } }, headers);
      },
      { slowQueryMs: 0.000001 },
    );
    expect(lines.filter(({ message }) => message === "slow request").length).toBeGreaterThan(4);
    expect(lines.filter(({ level }) => level === "error").length).toBeGreaterThan(0);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });

  it("name what does not answer, which is no refusal for load", async () => {
    const metrics = new Metrics();
    const access: AccessControl = {
      ...OPEN_ACCESS,
      identify({ authorization }) {
        if (authorization === undefined) return OPEN_ACCESS.identify({ authorization, queryString: "" });
        throw new ShoalError("unavailable", "the issuer https://issuer.test could not be asked");
      },
    };
    let text = "";
    const lines = await logOf(
      "warn",
      async (server) => {
        const asked = await server.send("GET", `/v1/objects/${U}`, undefined, { Authorization: "Bearer a.b.c" });
        server.services.failure = new ShoalError("unavailable", "shard 'b' of node 'a' does not answer");
        expect([asked.status, (await server.send("GET", `/v1/objects/${U}`)).status]).toEqual([503, 503]);
        text = await metrics.text();
      },
      {},
      { access, metrics },
    );
    expect(lines).toMatchObject([
      { level: "warn", message: "not available", error: "the issuer https://issuer.test could not be asked" },
      { level: "warn", message: "not available", error: "shard 'b' of node 'a' does not answer" },
    ]);
    expect(text).toContain('shoal_http_refusals_total{status="503"} 2');
    expect(text).toContain('shoal_http_load_refusals_total{reason="authentication"} 0');
    expect(text).toContain('shoal_http_load_refusals_total{reason="handler"} 0');
  });

  it("are bounded in number when a flood is refused", async () => {
    const lines = await logOf(
      "warn",
      async (server) => {
        server.services.gate = new Promise(() => {});
        const waits = server.send("GET", `/v1/objects/${U}`).catch(() => undefined);
        await expect.poll(async () => (await server.send("GET", `/v1/objects/${U}`)).status).toBe(429);
        const statuses = new Set<number>();
        for (let i = 0; i < 300; i++) statuses.add((await server.send("GET", `/v1/objects/${U}`)).status);
        expect([...statuses]).toEqual([429]);
        await server.gateway.stop();
        await waits;
      },
      { requestsInFlightMax: 1 },
    );
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(40);
    expect(lines[0]).toMatchObject({ level: "warn", message: "refused for load", reason: "requests_in_flight" });
  });
});

describe("slow requests", () => {
  it("are logged with what they asked for, and fast ones are not", async () => {
    const lines = await logOf(
      "info",
      async (server) => {
        await server.send("POST", "/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
        const vector = JSON.stringify(Array.from({ length: 300 }, (_, i) => i / 7));
        const query = `{\n  Get {\n    Car(nearVector: {vector: ${vector}}) { name }\n  }\n}`;
        server.services.gate = new Promise((resolve) => setTimeout(resolve, 1_100));
        await Promise.all([
          server.send("POST", "/v1/graphql", { query }, { "X-Request-Id": "q" }),
          server.send("GET", "/v1/objects?class=Car", undefined, { "X-Request-Id": "g" }),
          server.send("POST", "/v1/objects", { class: "Car", vector: [1, 2] }, { "X-Request-Id": "p" }),
        ]);
        server.services.gate = undefined;
        await server.send("GET", `/v1/objects/${U}`);
      },
      { slowQueryMs: 300 },
    );
    const slow = new Map(lines.map((line) => [line.requestId, line]));
    expect(slow.get("q")).toMatchObject({
      level: "warn",
      message: "slow request",
      operation: "POST /v1/graphql",
      classes: ["Car"],
      query: "{ Get { Car(nearVector: {vector: [300 numbers]}) { name } } }",
    });
    expect(Number(slow.get("q")?.durationMs)).toBeGreaterThanOrEqual(300);
    expect(slow.get("g")).toMatchObject({ operation: "GET /v1/objects", classes: ["Car"] });
    expect(slow.get("p")).toMatchObject({ operation: "POST /v1/objects", classes: ["Car"] });
    expect(lines.length).toBe(3);
  });

  it("are not looked for when SLOW_QUERY_MS is 0", async () => {
    const lines = await logOf(
      "info",
      async (server) => {
        server.services.gate = new Promise((resolve) => setTimeout(resolve, 30));
        await server.send("GET", `/v1/objects/${U}`);
      },
      { slowQueryMs: 0 },
    );
    expect(lines).toEqual([]);
  });
});
