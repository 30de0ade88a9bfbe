import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

const KIB = 1024;

let server: FakeGateway;
beforeAll(async () => {
  server = await serveFakes({});
});
afterAll(() => server.gateway.stop());

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

describe("malformed and hostile requests", () => {
  it.each([
    ["GARBAGE\r\n\r\n", 400],
    ["GET /v1/meta HTTP/9.9\r\n\r\n", 400],
    ["FOO /v1/meta HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n", 400],
    ["POST /v1/objects HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400],
    ["POST /v1/objects HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nhOST: y\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: a b\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: a/b\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: user@a\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: a:80:80\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: a:x\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: [::1\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: a%zz\r\n\r\n", 400],
    ["GET http:///v1/meta HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["GET http://a:b/v1/meta HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["GET ftp://a/v1/meta HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 405],
    ["GET /v1/meta HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer a\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: x\r\nauthorization: Bearer a\r\nAccept: */*\r\nAUTHORIZATION:\r\n\r\n", 400],
    ["GET /v1/.well-known/live HTTP/1.1\r\nHost: x\r\nAuthorization: Basic a\r\nAuthorization: Bearer a\r\n\r\n", 400],
    ["GET /v1/meta?access_token=a&access_token=b HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["GET /v1/.well-known/live?access_token=a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer b\r\n\r\n", 400],
    ["GET /v1/modules/none?access%5Ftoken=a HTTP/1.1\r\nHost: x\r\nAuthorization: bearer a\r\n\r\n", 400],
    ["POST /v1/objects HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501],
    [
      "POST /v1/objects HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      501,
    ],
    ["POST /v1/objects HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 400],
    ["GET /v1/meta HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: deflate, CHUNKED\r\n\r\n0\r\n\r\n", 501],
    ["POST /v1/objects HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", 422],
    ["GET /v1/meta HTTP/1.1\r\nHost: x\r\nExpect: foo\r\n\r\n", 417],
    [`GET /v1/meta HTTP/1.1\r\nX: ${"a".repeat(100 * KIB)}\r\n\r\n`, 431],
    [`GET /${"a".repeat(100 * KIB)} HTTP/1.1\r\n\r\n`, 431],
    [`GET /v1/meta HTTP/1.1\r\nHost: x\r\n${"a:b\r\n".repeat(50 * KIB)}\r\n`, 431],
  ])("%.60j is %i with the usual body", async (bytes, status) => {
    const response = await server.raw(bytes);
    expect(response?.status).toBe(status);
    expect(Object.keys(JSON.parse(response?.body ?? "") as object)).toEqual(["error"]);
    expect((await server.send("GET", "/v1/meta")).status).toBe(200);
  });

  it.each([
    "",
    "x",
    "a_b.example:8080",
    "127.0.0.1:1",
    "[::1]:8080",
    "[fe80::1]",
    "x:",
    "b%C3%BC.example",
    "xn--bcher-kva.example.",
  ])("takes the Host '%s'", async (host) => {
    expect((await server.raw(`GET /v1/meta HTTP/1.1\r\nHost: ${host}\r\n\r\n`))?.status).toBe(200);
  });

  it("does not ask clients of HTTP/1.0 for a Host, and answers OPTIONS *", async () => {
    expect((await server.raw("GET /v1/meta HTTP/1.0\r\n\r\n"))?.status).toBe(200);
    expect((await server.raw("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"))?.status).toBe(200);
  });

  it("drops clients that are too slow, and serves the others meanwhile", async () => {
    const slow = await serveFakes({ headersTimeoutSeconds: 1, bodyTimeoutSeconds: 1 });
    const sockets: Socket[] = [];
    try {
      const starts = [
        "GET /v1/meta HT",
        "",
        "POST /v1/objects HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
      ];
      const ended = Array.from({ length: 300 }, (_, i) => {
        const socket = connect(slow.port, "127.0.0.1");
        sockets.push(socket);
        socket.on("error", () => {});
        socket.write(starts[i % starts.length] ?? "");
        socket.resume();
        return new Promise<void>((resolve) => socket.on("close", () => resolve()));
      });
      const trickle = setInterval(() => {
        for (const socket of sockets) if (socket.writable) socket.write("x");
      }, 200);
      await pause(300);
      const started = performance.now();
      expect((await slow.send("GET", "/v1/meta")).status).toBe(200);
      expect(performance.now() - started).toBeLessThan(2_000);
      await Promise.all(ended);
      clearInterval(trickle);
    } finally {
      for (const socket of sockets) socket.destroy();
      await slow.gateway.stop();
    }
  });
});
