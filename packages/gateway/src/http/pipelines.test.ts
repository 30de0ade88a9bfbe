import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { ObjectId } from "@shoal/model";
import { Metrics } from "@shoal/service-runtime/metrics";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";

const U = "11111111-1111-1111-1111-111111111111";
const GET = `GET /v1/objects/${U} HTTP/1.1\r\nHost: x\r\n\r\n`;

let metrics: Metrics;
let server: FakeGateway;
/** Lets all calls of the services go on. */
let release: () => void;
beforeEach(async () => {
  metrics = new Metrics();
  server = await serveFakes({}, undefined, undefined, undefined, undefined, metrics);
  server.services.put({ id: U as ObjectId }, "{}");
  server.services.gate = new Promise((resolve) => {
    release = resolve;
  });
});
afterEach(() => server.gateway.stop());

interface Connection {
  readonly socket: Socket;
  statuses(): readonly number[];
}

async function open(): Promise<Connection> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  let received = "";
  socket.on("data", (chunk) => {
    received += String(chunk);
  });
  await new Promise((resolve) => socket.once("connect", resolve));
  return {
    socket,
    statuses: () => [...received.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) => Number(status)),
  };
}

function post(length: number): string {
  const body = `{"class":"Car","properties":{"name":"${"x".repeat(length)}"}}`;
  const head = "POST /v1/objects HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

const calls = (): number => server.services.contexts.length;

async function inFlight(): Promise<number> {
  const [, value] = /^shoal_http_requests_in_flight (\d+)$/m.exec(await metrics.text()) ?? [];
  return Number(value);
}

describe("F12: requests of one connection", () => {
  it("are worked on one after the other, and wait for no other connection", async () => {
    const [one, other] = [await open(), await open()];
    one.socket.write(GET.repeat(3));
    await expect.poll(inFlight).toBe(3);
    other.socket.write(GET);
    await expect.poll(calls).toBe(2);
    release();
    await expect.poll(() => [one.statuses(), other.statuses()]).toEqual([[200, 200, 200], [200]]);
    expect(calls()).toBe(4);
    one.socket.destroy();
    other.socket.destroy();
  });

  it("have no effect when the client has gone before it was their turn", async () => {
    const { socket } = await open();
    socket.write(post(1).repeat(3));
    await expect.poll(inFlight).toBe(3);
    await expect.poll(calls).toBe(1);
    socket.destroy();
    await expect.poll(inFlight).toBe(0);
    release();
    expect((await server.send("GET", `/v1/objects/${U}`)).status).toBe(200);
    expect(calls()).toBe(2);
  });

  it("have no effect behind one that is answered as the last one", async () => {
    const { socket, statuses } = await open();
    const ended = new Promise((resolve) => socket.once("end", resolve));
    socket.write(`${GET}${post(1).repeat(2)}`);
    await expect.poll(inFlight).toBe(3);
    const drained = server.gateway.drain();
    await setTimeout(10);
    release();
    await ended;
    await drained;
    expect([statuses(), calls()]).toEqual([[200], 1]);
  });

  it("leave their bodies with the client while they wait", async () => {
    const { socket, statuses } = await open();
    const bodies = 40;
    socket.write(GET + post(1024 * 1024).repeat(bodies));
    await expect.poll(inFlight).toBe(2);
    await setTimeout(50);
    // The body of the second one stops the connection: nothing behind it has been read.
    expect(await inFlight()).toBe(2);
    expect(socket.writableLength).toBeGreaterThan(20 * 1024 * 1024);
    release();
    await expect.poll(statuses, { timeout: 20_000 }).toEqual(Array.from({ length: bodies + 1 }, () => 200));
    socket.destroy();
  });

  it("S2: have no answer when the client has ended its side before, as it cannot be told from one that has gone", async () => {
    const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    let received = "";
    socket.on("data", (chunk) => {
      received += String(chunk);
    });
    socket.write(GET);
    await expect.poll(calls).toBe(1);
    const ended = new Promise((resolve) => socket.once("end", resolve));
    socket.end();
    await ended;
    await expect.poll(() => server.services.contexts[0]?.signal?.aborted).toBe(true);
    release();
    expect(await inFlight()).toBe(0);
    expect(received).toBe("");
    socket.destroy();
  });
});
