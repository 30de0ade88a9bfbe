import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { errorOf, type HttpClient } from "../http-client.js";
import { residentBytes } from "../process-figures.js";
import { ServerProcess } from "../server-process.js";

const BODY_BYTES_MAX = 4 * 1024 * 1024;

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start({
    env: { REQUEST_BODY_BYTES_MAX: String(BODY_BYTES_MAX), HTTP_HEADERS_TIMEOUT_SECONDS: "3" },
  });
  http = server.http;
  await http.post("/v1/schema", { class: "Car" });
});
afterAll(() => server[Symbol.asyncDispose]());

function open(): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, "127.0.0.1", () => resolve(socket));
    socket.on("error", reject);
  });
}

/** Sends text on a socket of its own and resolves to what came back when its headers are complete or the socket ends. */
async function raw(text: string): Promise<string> {
  const socket = await open();
  return new Promise((resolve) => {
    let answer = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      answer += chunk;
      if (answer.includes("\r\n\r\n")) socket.destroy();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(answer));
    socket.write(text);
  });
}

describe("S1 bodies that are too large", () => {
  it("a declared length over the limit is 413 before any of the body comes", async () => {
    const head = `POST /v1/objects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${BODY_BYTES_MAX + 1}\r\n\r\n`;
    expect(await raw(head)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("a chunked body is cut off at the limit", async () => {
    const chunk = Buffer.alloc(64 * 1024, "a");
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (sent > 4 * BODY_BYTES_MAX) return controller.close();
        sent += chunk.length;
        controller.enqueue(chunk);
      },
    });
    const status = await fetch(`${server.url}/v1/objects`, {
      method: "POST",
      body,
      duplex: "half",
      headers: { "Content-Type": "application/json" },
    } as RequestInit).then(
      (answer) => answer.status,
      () => "connection closed",
    );
    expect([413, "connection closed"]).toContain(status);
    expect((await http.get("/v1/meta")).status).toBe(200);
  });

  it("a gzip bomb is 413 and leaves memory alone", async () => {
    const bomb = gzipSync(Buffer.alloc(200 * 1024 * 1024), { level: 9 });
    expect(bomb.length).toBeLessThan(BODY_BYTES_MAX);
    const before = residentBytes(server.pid);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => http.post("/v1/objects", bomb, { "Content-Encoding": "gzip" })),
    );
    for (const answer of answers) expect([413, 415]).toContain(answer.status);
    expect(residentBytes(server.pid) - before).toBeLessThan(150 * 1024 * 1024);
  });

  it("a gzipped body within the limit is read", async () => {
    const body = gzipSync('{"class":"Car","vector":[1,2]}');
    expect((await http.post("/v1/objects", body, { "Content-Encoding": "gzip" })).status).toBe(200);
    const answer = await http.post("/v1/objects", "not gzip", { "Content-Encoding": "gzip" });
    expect(answer.status).toBe(400);
    expect((await http.post("/v1/objects", "x", { "Content-Encoding": "br2" })).status).toBe(415);
  });
});

describe("S2 malformed and deep JSON", () => {
  it.each([
    ["open braces", "{".repeat(100_000)],
    ["open brackets", `{"class":"Car","properties":${"[".repeat(100_000)}`],
    ["deep and closed", `{"class":"Car","vector":[1,2],"properties":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`],
    ["cut in the middle", '{"class":"Car","vec'],
    ["a lone surrogate escape", '{"class":"\\ud800"}'],
    ["invalid UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ["a byte of zero", '{"class":"Ca\u0000r"}'],
  ])("%s is a 4xx with a message", async (_, body) => {
    for (const path of ["/v1/objects", "/v1/batch/objects", "/v1/schema", "/v1/graphql"]) {
      const answer = await http.post(path, body);
      expect(answer.status, `${path} ${answer.text}`).toBeGreaterThanOrEqual(400);
      expect(answer.status, `${path} ${answer.text}`).toBeLessThan(500);
      expect(typeof errorOf(answer)).toBe("string");
    }
  });

  it.each([
    "GET / HTTP/9.9\r\n\r\n",
    "\u0000\u0001\u0002\r\n\r\n",
    "GET /%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
  ])("raw %j is a 4xx", async (text) => {
    expect(await raw(text)).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect((await http.get("/v1/meta")).status).toBe(200);
  });

  it("two lengths are refused, not guessed", async () => {
    const text =
      "POST /v1/objects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    expect(await raw(text)).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe("S3 slow clients", () => {
  it("a thousand sockets that never finish their headers harm nobody and are closed", async () => {
    const sockets = await Promise.all(Array.from({ length: 1_000 }, open));
    let closed = 0;
    for (const socket of sockets) {
      socket.on("error", () => undefined);
      socket.on("close", () => {
        closed += 1;
      });
      socket.resume();
      socket.write("POST /v1/objects HTTP/1.1\r\nHost: x\r\nX-Slow: ");
    }
    const times: number[] = [];
    for (let i = 0; i < 50; i++) {
      const begun = performance.now();
      expect((await http.get("/v1/meta")).status).toBe(200);
      times.push(performance.now() - begun);
    }
    times.sort((a, b) => a - b);
    console.log(`S3: median of ${times.length} requests beside slow clients ${times[25]?.toFixed(1)} ms`);
    // About 2 ms on an idle machine; the bound tells a server that is held up from a machine that is busy.
    expect(times[25]).toBeLessThan(2_000);
    await expect.poll(() => closed, { timeout: 120_000, interval: 200 }).toBe(sockets.length);
  });
});
