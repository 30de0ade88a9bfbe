import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HttpClient } from "../http-client.js";
import { residentBytes } from "../process-figures.js";
import { ServerProcess } from "../server-process.js";
import { openSocket, saidTo } from "./raw-connection.js";

const MIB = 1024 * 1024;
const ID = "11111111-1111-4111-8111-111111111111";

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start({ env: { HTTP_ANSWER_STALL_SECONDS: "2", ANSWERS_BYTES_MAX: String(64 * MIB) } });
  http = server.http;
  await http.post("/v1/schema", { class: "Car", properties: [{ name: "name", dataType: ["text"] }] });
  await http.post("/v1/objects", { class: "Car", id: ID, vector: [1, 2], properties: { name: "x".repeat(2 * MIB) } });
});
afterAll(() => server[Symbol.asyncDispose]());

/** A second request hidden behind the first, to be seen when it is answered. */
const HIDDEN = "GET /v1/.well-known/live HTTP/1.1\r\nHost: localhost\r\n\r\n";
const POST = "POST /v1/objects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";

describe("requests that proxies and servers may read differently", () => {
  it.each([
    ["both lengths", `${POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ["two different lengths", `${POST}Content-Length: 2\r\nContent-Length: 60\r\n\r\n{}${HIDDEN}`],
    ["a length with a sign", `${POST}Content-Length: +2\r\n\r\n{}${HIDDEN}`],
    ["a list of lengths", `${POST}Content-Length: 2, 2\r\n\r\n{}${HIDDEN}`],
    ["a length in hexadecimal", `${POST}Content-Length: 0x2\r\n\r\n{}${HIDDEN}`],
    ["a length beyond all numbers", `${POST}Content-Length: 99999999999999999999999\r\n\r\n{}${HIDDEN}`],
    ["an unknown coding", `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ["chunked that is not the last coding", `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ["a space before the colon", `${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ["a tab in a name", `${POST}Transfer\tEncoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ["a folded header", `${POST}X-Fold: a\r\n b\r\nTransfer-Encoding:\r\n chunked\r\n\r\n${HIDDEN}`],
    ["a chunk size that is no number", `${POST}Transfer-Encoding: chunked\r\n\r\nxyz\r\n{}\r\n0\r\n\r\n${HIDDEN}`],
    ["a chunk size with a sign", `${POST}Transfer-Encoding: chunked\r\n\r\n+2\r\n{}\r\n0\r\n\r\n${HIDDEN}`],
    [
      "a chunk size beyond all numbers",
      `${POST}Transfer-Encoding: chunked\r\n\r\n${"f".repeat(20)}\r\n{}\r\n${HIDDEN}`,
    ],
    ["a chunk longer than its size", `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n${HIDDEN}`],
    ["line feeds alone", `GET /v1/meta HTTP/1.1\nHost: x\n\n${HIDDEN}`],
    ["a carriage return alone", `GET /v1/meta HTTP/1.1\r\nHost: x\rX: y\r\n\r\n${HIDDEN}`],
    ["a zero byte in a header", `GET /v1/meta HTTP/1.1\r\nHost: x\r\nX: a\u0000b\r\n\r\n${HIDDEN}`],
    ["a line feed in the target", `GET /v1/meta\n HTTP/1.1\r\nHost: x\r\n\r\n${HIDDEN}`],
    ["HTTP/2 in clear", `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${HIDDEN}`],
    ["a TLS greeting", `\u0016\u0003\u0001\u0002\u0000\u0001\u0000${HIDDEN}`],
  ])("%s: 400, the connection is closed, and what follows is not read as a request", async (_, bytes) => {
    const { statuses, closed, text } = await saidTo(server.port, bytes);
    // One answer at most is for what was wrong; a 200 would be for the hidden request.
    expect(
      statuses.filter((status) => status < 300),
      text.slice(0, 300),
    ).toEqual([]);
    expect(statuses.at(-1), text.slice(0, 300)).toBe(400);
    expect(closed).toBe(true);
  });

  it("HTTP/1.0, absolute targets and pipelines are answered", async () => {
    expect((await saidTo(server.port, "GET /v1/meta HTTP/1.0\r\n\r\n")).statuses).toEqual([200]);
    const absolute = await saidTo(
      server.port,
      "GET http://localhost/v1/meta HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    expect(absolute.statuses).toEqual([200]);
    const get = `GET /v1/meta HTTP/1.1\r\nHost: x\r\n\r\n`;
    const last = "GET /v1/meta HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    expect((await saidTo(server.port, get.repeat(20) + last)).statuses).toEqual(Array.from({ length: 21 }, () => 200));
  });
});

describe("floods on one connection", () => {
  it.each([
    ["100,000 requests without waiting", HIDDEN.replace(".well-known/live", "meta").repeat(100_000)],
    ["a header of 10 MiB", `GET /v1/meta HTTP/1.1\r\nX: ${"a".repeat(10 * MIB)}\r\n\r\n`],
    ["100,000 headers", `GET /v1/meta HTTP/1.1\r\n${"X: y\r\n".repeat(100_000)}\r\n`],
    ["a target of 10 MiB", `GET /v1/${"a".repeat(10 * MIB)} HTTP/1.1\r\nHost: x\r\n\r\n`],
    [
      "chunk extensions of 10 MiB",
      `${POST}Transfer-Encoding: chunked\r\n\r\n1;${"a".repeat(10 * MIB)}\r\n{\r\n0\r\n\r\n`,
    ],
    [
      "trailers of 10 MiB",
      `${POST}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n${"X: y\r\n".repeat(1_700_000)}\r\n`,
    ],
  ])("%s: memory is bounded, others are served", async (_, bytes) => {
    const before = residentBytes(server.pid);
    const floods = Promise.all(Array.from({ length: 4 }, () => saidTo(server.port, bytes, 10_000)));
    expect((await http.get("/v1/.well-known/live")).status).toBe(200);
    const said = await floods;
    for (const { statuses, closed } of said) {
      expect(closed).toBe(true);
      for (const status of statuses) expect([200, 400, 413, 422, 431]).toContain(status);
    }
    expect(residentBytes(server.pid) - before).toBeLessThan(200 * MIB);
    expect((await http.get("/v1/meta")).status).toBe(200);
  });
});

describe("clients that never read their answers", () => {
  it("hold bounded memory for a bounded time", async () => {
    const before = residentBytes(server.pid);
    const sockets: Socket[] = await Promise.all(Array.from({ length: 300 }, () => openSocket(server.port)));
    let closed = 0;
    for (const socket of sockets) {
      socket.pause();
      socket.on("close", () => {
        closed++;
      });
      // Together fewer than REQUESTS_IN_FLIGHT_MAX: beyond it everybody is asked to come back later.
      socket.write(`GET /v1/objects/${ID} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(6));
    }
    const times: number[] = [];
    let most = 0;
    const until = Date.now() + 4_000;
    while (Date.now() < until) {
      const begun = performance.now();
      expect((await http.get("/v1/meta")).status).toBe(200);
      times.push(performance.now() - begun);
      most = Math.max(most, residentBytes(server.pid) - before);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    times.sort((a, b) => a - b);
    console.log(`300 clients that do not read: ${Math.round(most / MIB)} MiB more, p99 ${times.at(-1)?.toFixed(0)} ms`);
    // 300 times 6 answers of 2 MiB would be 3.5 GiB.
    expect(most).toBeLessThan(700 * MIB);
    await expect.poll(async () => (await http.get(`/v1/objects/${ID}`)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => closed).toBe(sockets.length);
  });
});
