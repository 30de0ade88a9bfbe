import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { expect, it } from "vitest";
import { listenMore } from "./listen-more.js";

const OPTIONS = { allowHalfOpen: false, noDelay: true };
const BACKLOG = 128;

async function listening(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", BACKLOG, resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

/** Iterations of the event loop that it takes to accept connections which come all at once. */
async function iterationsFor(count: number, server: Server, port: number): Promise<number> {
  let accepted = 0;
  let iterations = 0;
  const take = (socket: Socket): void => {
    accepted++;
    socket.destroy();
  };
  server.on("connection", take);
  // The kernel takes them without us: they wait when the next iteration begins.
  const clients = Array.from({ length: count }, () => connect(port, "127.0.0.1").on("error", () => {}));
  for (; accepted < count; iterations++) await new Promise((resolve) => setImmediate(resolve));
  server.off("connection", take);
  for (const client of clients) client.destroy();
  return iterations;
}

it("accepts as many connections in an iteration of the event loop as there are handles", async () => {
  const { server, port } = await listening();
  const alone = await iterationsFor(64, server, port);
  const more = await listenMore(server, 15, BACKLOG, OPTIONS);
  expect(more).toHaveLength(15);
  const together = await iterationsFor(64, server, port);
  for (const one of [server, ...more]) one.close();
  // One, and then sixteen, an iteration; a few iterations pass before the kernel says that there are any.
  expect(alone).toBeGreaterThanOrEqual(64);
  expect(together).toBeLessThan(16);
});

it("takes connections until the last handle is closed, and lets the port go then", async () => {
  const { server, port } = await listening();
  const more = await listenMore(server, 2, BACKLOG, OPTIONS);
  const [second, third] = more;
  const knock = async (): Promise<unknown> => {
    const socket = connect(port, "127.0.0.1");
    const response = await once(socket, "connect").then(
      () => "accepted",
      (error: NodeJS.ErrnoException) => error.code,
    );
    socket.destroy();
    return response;
  };
  server.on("connection", (socket: Socket) => socket.destroy());
  const close = (one: Server | undefined) => new Promise((resolve) => one?.close(resolve));
  await close(second);
  expect(await knock()).toBe("accepted");
  await close(server);
  expect(await knock()).toBe("accepted");
  await close(third);
  expect(await knock()).toBe("ECONNREFUSED");
  const again = createServer();
  await new Promise<void>((resolve) => again.listen(port, "127.0.0.1", resolve));
  again.close();
});

it("has no more handles on a server that does not listen", async () => {
  expect(await listenMore(createServer(), 4, BACKLOG, OPTIONS)).toEqual([]);
});
