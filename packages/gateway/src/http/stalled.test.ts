import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import type { ObjectId } from "@shoal/model";
import { afterEach, describe, expect, it } from "vitest";
import { type FakeGateway, serveFakes } from "../testing/serve-fakes.js";
import { Connections } from "./connections.js";

const U = "11111111-1111-1111-1111-111111111111";
const GET = `GET /v1/objects/${U} HTTP/1.1\r\nHost: x\r\n\r\n`;
const MIB = 1024 * 1024;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function connected(port: number): Promise<Socket> {
  const client = connect(port, "127.0.0.1").on("error", () => {});
  open.unshift(() => client.destroy());
  await new Promise((resolve) => client.once("connect", resolve));
  return client;
}

describe("a client that takes nothing", () => {
  it("is silent from the tick on in which it has taken nothing since the one before, until it takes something", async () => {
    const connections = new Connections(10);
    const server = createServer();
    const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    open.push(() => server.close());
    const client = (await connected((server.address() as AddressInfo).port)).pause();
    const socket = (await accepted).on("error", () => {});
    const connection = connections.of(socket);
    connections.begin(connection);
    for (let i = 0; i < 5; i++) expect(connections.cutStalled(1)).toBe(0);
    // In one piece: what the system takes of it is seen, too.
    socket.write(Buffer.alloc(100 * MIB));
    expect(connection.tick()).toBe(0);
    await expect.poll(() => connection.tick()).toBe(5);
    expect(connection.tick()).toBe(6);
    client.resume();
    await expect.poll(() => connection.tick()).toBe(0);
    client.pause();
    await expect.poll(() => connection.tick()).toBe(5);
    expect(connections.cutStalled(7)).toBe(0);
    expect(connections.cutStalled(7)).toBe(1);
    expect(socket.destroyed).toBe(true);
    expect(connections.cutStalled(7)).toBe(0);
  });
});

/** TLS needs no certificate where both sides know a key. */
const KEY = Buffer.alloc(32, 7);
const TLS = { ciphers: "PSK-AES256-GCM-SHA384", maxVersion: "TLSv1.2" } as const;

describe("with TLS a client", () => {
  it("takes something whenever bytes leave, however long the write is that they belong to", async () => {
    const connections = new Connections(10);
    const server = createTlsServer({ ...TLS, pskCallback: () => KEY });
    const carrier = new Promise<Socket>((resolve) => server.once("connection", resolve));
    const secured = new Promise<Socket>((resolve) => server.once("secureConnection", resolve));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    open.push(() => server.close());
    const client = connectTls({
      ...TLS,
      port: (server.address() as AddressInfo).port,
      pskCallback: () => ({ psk: KEY, identity: "client" }),
      checkServerIdentity: () => undefined,
    }).on("error", () => {});
    open.unshift(() => client.destroy());
    const stream = (await secured).on("error", () => {});
    const connection = connections.of(await carrier);
    connections.secured(stream, await carrier);
    client.pause();
    stream.write(Buffer.alloc(100 * MIB));
    for (let round = 1; round <= 3; round++) {
      await expect.poll(() => connection.tick()).toBe(5);
      const until = client.bytesRead + 20 * MIB;
      const taking = new Promise<void>((resolve) => {
        client.on("data", function take() {
          if (client.bytesRead < until) return;
          client.off("data", take).pause();
          resolve();
        });
      });
      client.resume();
      await taking;
      expect(connection.tick()).toBe(0);
      expect(stream.writableLength).toBeGreaterThan(0);
    }
  });
});

describe("a server", () => {
  let server: FakeGateway;

  async function asks(bytes: number, settings: Parameters<typeof serveFakes>[0]): Promise<Socket> {
    server = await serveFakes(settings);
    open.push(() => server.gateway.stop());
    server.services.put({ id: U as ObjectId }, `{"text":"${"x".repeat(bytes)}"}`);
    const client = await connected(server.port);
    client.write(GET);
    return client;
  }

  it("S2: cuts who takes nothing of an answer, although the next request comes, and nobody who takes it slowly", async () => {
    const seconds = 2;
    const silent = await asks(30 * MIB, { answerStallSeconds: seconds, headersTimeoutSeconds: 300 });
    const slow = await connected(server.port);
    slow.write(GET);
    const begunMs = performance.now();
    silent.pause().write("GET /v1/meta HTTP/1.1\r\nX: ");
    const sending = setInterval(() => silent.write("x"), 100);
    open.push(() => clearInterval(sending));
    const cut = new Promise<number>((resolve) => silent.once("close", () => resolve(performance.now() - begunMs)));
    // For longer than it may take nothing, two megabytes at a time.
    let bytes = 0;
    slow.on("data", (part: Buffer) => {
      const before = Math.floor(bytes / (2 * MIB));
      bytes += part.length;
      if (Math.floor(bytes / (2 * MIB)) !== before) slow.pause();
    });
    const taking = setInterval(() => slow.resume(), 400);
    open.push(() => clearInterval(taking));
    expect(await cut).toBeLessThan((seconds + 3) * 1_000);
    await expect.poll(() => bytes, { timeout: 30_000 }).toBeGreaterThan(30 * MIB);
  }, 40_000);

  it("closes a connection that is idle for HTTP_KEEP_ALIVE_SECONDS", async () => {
    const client = await asks(10, { keepAliveSeconds: 1 });
    let isClosed = false;
    client.resume().once("close", () => {
      isClosed = true;
    });
    await expect.poll(() => isClosed, { timeout: 20_000 }).toBe(true);
  });
});
