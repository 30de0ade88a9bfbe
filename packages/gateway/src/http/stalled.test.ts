import { type AddressInfo, connect, createServer, type Socket } from "node:net";
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

  it("cuts who takes nothing of an answer, although the next request comes", async () => {
    const client = await asks(30 * MIB, { answerStallSeconds: 1, headersTimeoutSeconds: 300 });
    let isClosed = false;
    client.pause().once("close", () => {
      isClosed = true;
    });
    client.write("GET /v1/meta HTTP/1.1\r\nX: ");
    const sending = setInterval(() => client.write("x"), 100);
    open.push(() => clearInterval(sending));
    await expect.poll(() => isClosed, { timeout: 20_000 }).toBe(true);
  });

  it("closes a connection that is idle for HTTP_KEEP_ALIVE_SECONDS", async () => {
    const client = await asks(10, { keepAliveSeconds: 1 });
    let isClosed = false;
    client.resume().once("close", () => {
      isClosed = true;
    });
    await expect.poll(() => isClosed, { timeout: 20_000 }).toBe(true);
  });
});
