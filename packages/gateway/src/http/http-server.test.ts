import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import type { ObjectId } from "@shoal/model";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

const U = "11111111-1111-1111-1111-111111111111";
const OTHER = "22222222-2222-2222-2222-222222222222";
const KIB = 1024;

let server: FakeGateway;
beforeAll(async () => {
  server = await serveFakes({ requestBodyBytesMax: 64 * KIB, requestBodiesBytesMax: 100 * KIB });
  server.services.put({ id: U as ObjectId }, "{}");
});
afterAll(() => server.gateway.stop());
afterEach(() => {
  server.services.gate = undefined;
});

function error(message: string): string {
  return `{"error":[{"message":${JSON.stringify(message)}}]}\n`;
}

function request(head: string, body: string | Buffer = ""): Buffer {
  return Buffer.concat([
    Buffer.from(`${head.replaceAll("\n", "\r\n")}\r\nHost: x\r\n\r\n`),
    typeof body === "string" ? Buffer.from(body) : body,
  ]);
}

/** All that is answered to requests on one connection, of which the last one asks for its end. */
function everything(...requests: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    for (const bytes of requests) socket.write(bytes);
  });
}

/** Runs `begin`, and resolves when the services were asked for something since; its result may be a promise still. */
async function asked<Result>(begin: () => Result): Promise<{ readonly result: Result }> {
  const before = server.services.contexts.length;
  const result = begin();
  await expect.poll(() => server.services.contexts.length).toBeGreaterThan(before);
  return { result };
}

it.each([
  ["", false],
  ["&consistency_level=ONE", false],
  ["&consistency_level=QUORUM", true],
  ["&consistency_level=ALL", true],
  ["&consistency_level=ALL&consistency_level=ONE", false],
])("reads of a list%s go to primaries: %s", async (level, isSo) => {
  expect((await server.send("GET", `/v1/objects?limit=1${level}`)).status).toBe(200);
  expect(server.services.contexts.at(-1)?.readsPrimary).toBe(isSo);
});

describe("paths and methods", () => {
  it.each(["/v1/meta/", "//v1//meta", "/v1/meta?x=%zz", "http://other/v1/meta"])("%s is /v1/meta", async (path) => {
    expect((await server.send("GET", path)).status).toBe(200);
  });

  it.each([
    ["/v1/met", "/v1/met"],
    ["/V1/meta", "/V1/meta"],
    ["/v1/%6deta", "/v1/%6deta"],
    ["/v1/../v1/meta", "/v1/../v1/meta"],
    ["/v1/objects/a/b/c/d/e/f/g/h?q", "/v1/objects/a/b/c/d/e/f/g/h"],
    [`/${"a/".repeat(1_900)}`, `/${"a/".repeat(1_900)}`],
  ])("%.40s is not found", async (path, shown) => {
    expect(await server.send("GET", path)).toMatchObject({ status: 404, body: error(`path ${shown} was not found`) });
  });

  it("answers a known path and another method with 405 and Allow, before the body is read", async () => {
    const response = await server.raw(request("PATCH /v1/objects HTTP/1.1\nContent-Length: 1000000000"));
    expect(response).toMatchObject({ status: 405, body: error("method PATCH is not allowed, but [GET,POST] are") });
    expect(response?.headers.get("allow")).toBe("GET,POST");
    expect((await server.send("TRACE", "/v1/meta")).status).toBe(405);
    expect((await server.send("HEAD", "/v1/meta")).status).toBe(405);
  });

  it("answers OPTIONS everywhere", async () => {
    const response = await server.send("OPTIONS", "/any/path");
    expect(response).toMatchObject({ status: 200, body: "" });
    expect(response.headers.get("vary")).toBe("Origin");
  });
});

describe("media types", () => {
  it.each([
    [undefined, 415, 'unsupported media type "application/octet-stream", only [application/json] are allowed'],
    ["text/plain; charset=x", 415, 'unsupported media type "text/plain", only [application/json] are allowed'],
    ["application/json", 200, ""],
    ["Application/JSON ; charset=utf-8", 200, ""],
  ])("a body of type %s is %i", async (type, status, message) => {
    const header = type === undefined ? "" : `\nContent-Type: ${type}`;
    const bytes = request(`POST /v1/objects/validate HTTP/1.1\nContent-Length: 2${header}`, "{}");
    expect(await server.raw(bytes)).toMatchObject({ status, body: message === "" ? "" : error(message) });
  });

  it.each([
    ["text/html", 406],
    ["text/html, application/json;q=0, */*", 406],
    ["text/html, */*;q=0.1", 200],
    ["", 200],
    ["application/*", 200],
    ["application/json;q=0.5", 200],
  ])("a request without body that accepts %s is %i", async (accept, status) => {
    expect((await server.send("GET", "/v1/meta", undefined, { Accept: accept })).status).toBe(status);
  });

  it.each([
    ["POST", "", 422, "the request has no body: it must be JSON"],
    ["POST", "\nContent-Type: text/plain", 422, "the request has no body: it must be JSON"],
    ["DELETE", "", 404, `no object with id '${OTHER}'`],
  ])("an empty chunked body of %s has no type (%j)", async (method, type, status, message) => {
    const path = method === "POST" ? "/v1/objects/validate" : `/v1/objects/${OTHER}`;
    const bytes = request(`${method} ${path} HTTP/1.1\nTransfer-Encoding: chunked${type}`, "0\r\n\r\n");
    expect(await server.raw(bytes)).toMatchObject({ status, body: error(message) });
  });

  it.each(["Transfer-Encoding: chunked", "Content-Length: 2"])("a body with %s and no type is 415", async (framing) => {
    const body = framing === "Content-Length: 2" ? "{}" : "2\r\n{}\r\n0\r\n\r\n";
    for (const line of ["POST /v1/objects/validate", `GET /v1/objects/${U}`, `DELETE /v1/objects/${OTHER}`]) {
      const last = request("GET /v1/meta HTTP/1.1\nConnection: close");
      const responses = await everything(request(`${line} HTTP/1.1\n${framing}`, body), last);
      expect(responses).toMatch(/^HTTP\/1\.1 415 .*application\/octet-stream.*HTTP\/1\.1 200 OK/s);
    }
  });

  it("takes a JSON body where none is due, and ignores it", async () => {
    const headers = { "Content-Type": "application/json", Accept: "text/html" };
    expect((await server.send("GET", "/v1/meta", {}, headers)).status).toBe(200);
  });

  it("does not refuse by Accept what has a body, nor by Content-Type what has none", async () => {
    expect((await server.send("POST", "/v1/objects/validate", {}, { Accept: "text/html" })).status).toBe(200);
    expect((await server.send("GET", "/v1/meta", undefined, { "Content-Type": "x/y" })).status).toBe(200);
    expect(await server.send("POST", "/v1/objects/validate")).toMatchObject({
      status: 422,
      body: error("the request has no body: it must be JSON"),
    });
  });
});

describe("bodies", () => {
  const head = "POST /v1/objects/validate HTTP/1.1\nContent-Type: application/json";
  const tooLarge = error(`the body is larger than ${64 * KIB} bytes (REQUEST_BODY_BYTES_MAX)`);

  it("refuses an announced length at once, also before the client was told to go on", async () => {
    const started = performance.now();
    const response = await server.raw(request(`${head}\nContent-Length: ${65 * KIB}`));
    expect(response).toMatchObject({ status: 413, body: tooLarge });
    expect(performance.now() - started).toBeLessThan(2_000);
    const expecting = await server.raw(request(`${head}\nExpect: 100-continue\nContent-Length: ${10 ** 12}`));
    expect(expecting).toMatchObject({ status: 413, body: tooLarge });
  });

  it("tells a waiting client to go on when the length is fine", async () => {
    const bytes = request(`${head}\nExpect: 100-continue\nContent-Length: 2`, "{}");
    expect(await server.raw(bytes)).toMatchObject({ status: 200 });
  });

  it("refuses a chunked body as soon as it is too large", async () => {
    const chunk = `${(16 * KIB).toString(16)}\r\n${" ".repeat(16 * KIB)}\r\n`;
    const bytes = request(`${head}\nTransfer-Encoding: chunked`, chunk.repeat(5));
    expect(await server.raw(bytes)).toMatchObject({ status: 413, body: tooLarge });
  });

  it("lets a client that sends a refused body to its end read the answer and use the connection again", async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const post = (body: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const options = { agent, port: server.port, method: "POST", path: "/v1/objects/validate" };
        const headers = { "Content-Type": "application/json" };
        const outgoing = httpRequest({ ...options, headers }, (response) => {
          response.resume();
          response.on("end", () => resolve(response.statusCode));
        });
        outgoing.on("error", reject);
        outgoing.end(body);
      });
    expect(await post(" ".repeat(4 * 1024 * KIB))).toBe(413);
    expect(await post("{}")).toBe(200);
    agent.destroy();
  });

  it("unpacks gzip, within the same limit, and refuses what is no gzip or another encoding", async () => {
    const send = (encoding: string, body: Buffer) =>
      server.raw(request(`${head}\nContent-Encoding: ${encoding}\nContent-Length: ${body.length}`, body));
    expect(await send("gzip", gzipSync('{"class":"Zipped"}'))).toMatchObject({ status: 200 });
    expect(server.services.inputs.at(-1)?.className).toBe("Zipped");
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * KIB, " "));
    expect(bomb.length).toBeLessThan(64 * KIB);
    expect(await send("gzip", bomb)).toMatchObject({ status: 413, body: tooLarge });
    expect(await send("gzip", Buffer.from("{}"))).toMatchObject({ status: 400 });
    expect(await send("gzip", gzipSync('{"class":"Cut"}').subarray(0, 20))).toMatchObject({ status: 400 });
    const other = await send("br", Buffer.from("{}"));
    expect(other).toMatchObject({
      status: 415,
      body: error('unsupported content encoding "br", only [gzip identity] are allowed'),
    });
  });

  it("bounds all bodies together and gives back what it took", async () => {
    let open = (): void => {};
    server.services.gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const body = JSON.stringify({ class: "x".repeat(60 * KIB) });
    const bytes = request(`${head}\nContent-Length: ${body.length}`, body);
    const { result: first } = await asked(() => server.raw(bytes));
    const refused = await server.raw(bytes);
    expect(refused?.status).toBe(429);
    expect(refused?.headers.get("retry-after")).toBe("1");
    open();
    expect((await first)?.status).toBe(200);
    expect((await server.raw(bytes))?.status).toBe(200);
    const cut = connect(server.port, "127.0.0.1");
    cut.write(request(`${head}\nContent-Length: 60000`, " ".repeat(50_000)));
    await expect.poll(async () => (await server.raw(bytes))?.status).toBe(429);
    cut.destroy();
    await expect.poll(async () => (await server.raw(bytes))?.status).toBe(200);
  });
});

describe("the context of a request", () => {
  it("carries the deadline, and a signal that fires when the client goes away", async () => {
    let open = (): void => {};
    server.services.gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const socket = connect(server.port, "127.0.0.1");
    await asked(() => socket.write(request(`GET /v1/objects/${U} HTTP/1.1`)));
    const context = server.services.contexts.at(-1);
    expect(context?.deadline).toBe(server.services.now + 60_000);
    expect(context?.signal?.aborted).toBe(false);
    socket.destroy();
    await expect.poll(() => context?.signal?.aborted).toBe(true);
    open();
    const responded = server.services.contexts.length;
    expect((await server.send("GET", `/v1/objects/${U}`)).status).toBe(200);
    expect(server.services.contexts[responded]?.signal?.aborted).toBe(false);
  });
});
