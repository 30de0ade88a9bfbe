import { connect, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { connectNode } from "./client/node-channel.js";
import type { NodeConnection } from "./node-connection.js";
import { createRpcServer } from "./server/rpc-server.js";
import { reach } from "./testing/open-link.js";
import { scriptedNode } from "./testing/scripted-node.js";
import { SwappedTls, TestAuthority } from "./testing/test-certificates.js";
import type { TlsSource } from "./tls/tls-source.js";

const now = () => Date.now();
const forever = { deadline: Number.POSITIVE_INFINITY };
const CONNECTIONS_MAX = 256;
/** The client of a node has so many. */
const OF_A_PEER = 2;
const PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

let authority: TestAuthority;
let serverTls: TlsSource;
let clientTls: TlsSource;

beforeAll(async () => {
  authority = await TestAuthority.make("ours");
  serverTls = new SwappedTls(await authority.sign(["node-1"]));
  clientTls = new SwappedTls(await authority.sign(["gateway"]));
});

function serve(tls: TlsSource | undefined, connectionsMax?: number) {
  const options = { host: "127.0.0.1", port: 0, now, tls, ...(connectionsMax && { connectionsMax }) };
  return createRpcServer({ node: scriptedNode(() => []) }, options);
}

function peer(port: number, tls: TlsSource | undefined): NodeConnection {
  return connectNode("node-1", `127.0.0.1:${port}`, { now, schemaVersion: () => 0, tls });
}

/** Sockets that connect one after the other and say `words` or nothing; how many of them have been closed. */
class Crowd implements Disposable {
  readonly #sockets: Socket[] = [];
  readonly #waiting = new Set<() => void>();
  #closed = 0;

  async come(port: number, count: number, words = ""): Promise<void> {
    for (let at = 0; at < count; at++) {
      const socket = connect(port, "127.0.0.1").on("error", () => undefined);
      this.#sockets.push(socket);
      await new Promise((resolve) => socket.once("connect", resolve));
      socket.once("close", () => {
        this.#closed++;
        for (const look of this.#waiting) look();
      });
      // Or the end of the other side is not noticed.
      socket.resume();
      if (words !== "") socket.write(words);
    }
  }

  async closed(count: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#closed >= count) resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

describe.each([false, true])("S11: strangers at the port of a node, with TLS: %s", { timeout: 60_000 }, (isSecure) => {
  const tls = () => (isSecure ? { serverTls, clientTls } : { serverTls: undefined, clientTls: undefined });

  test.concurrent.each(["", isSecure ? "\x16\x03\x01\x02" : PREFACE.slice(0, 23)])(
    "who say %j take no more than is planned, let peers in, and are cut soon",
    async (words) => {
      await using server = await serve(tls().serverTls);
      using live = peer(server.port, tls().clientTls);
      await reach(live, "ready");
      const left: string[] = [];
      live.onState((state) => left.push(state));
      using crowd = new Crowd();
      await crowd.come(server.port, 600, words);
      await crowd.closed(600 + OF_A_PEER - CONNECTIONS_MAX);
      expect(await live.shardStatuses(forever)).toEqual([]);
      using fresh = peer(server.port, tls().clientTls);
      await reach(fresh, "ready");
      expect(await fresh.shardStatuses(forever)).toEqual([]);
      await crowd.closed(600);
      expect(await live.shardStatuses(forever)).toEqual([]);
      expect(left).toEqual([]);
    },
  );

  test("cut no peer when all connections are peers', and those that close make room", async () => {
    await using server = await serve(tls().serverTls, 3 * OF_A_PEER);
    using live = peer(server.port, tls().clientTls);
    await reach(live, "ready");
    const left: string[] = [];
    live.onState((state) => left.push(state));
    for (let at = 0; at < 10; at++) {
      using passing = peer(server.port, tls().clientTls);
      await reach(passing, "ready");
    }
    // One after the other: what the last one that passed has let go may still take places of both, and they would take each other's.
    const others: NodeConnection[] = [];
    for (let at = 0; at < 2; at++) {
      const other = peer(server.port, tls().clientTls);
      others.push(other);
      await reach(other, "ready");
    }
    using crowd = new Crowd();
    await crowd.come(server.port, 10);
    await crowd.closed(10);
    using late = peer(server.port, tls().clientTls);
    await reach(late, "unreachable");
    for (const other of others) expect(await other.shardStatuses(forever)).toEqual([]);
    for (const other of others) other[Symbol.dispose]();
    await reach(late, "ready");
    expect(left).toEqual([]);
  });

  test("do not hold up the end of the server", async () => {
    using crowd = new Crowd();
    const server = await serve(tls().serverTls);
    await crowd.come(server.port, 3);
    await server[Symbol.asyncDispose]();
    await crowd.closed(3);
  });
});

test("S11: a storage node's certificate takes no more than half of the places that others leave", {
  timeout: 60_000,
}, async () => {
  await using server = await serve(serverTls, 8);
  const [nodeTls, accomplice] = [await authority.sign(["node-2"]), await authority.sign(["node-3"])];
  const sockets: TLSSocket[] = [];
  let closed = 0;
  const come = async (count: number, { ca, certificate, key } = nodeTls): Promise<void> => {
    for (let at = 0; at < count; at++) {
      const options = { port: server.port, host: "127.0.0.1", ca, cert: certificate, key, ALPNProtocols: ["h2"] };
      const socket = connectTls({ ...options, checkServerIdentity: () => undefined }).on("error", () => undefined);
      sockets.push(socket);
      socket.once("close", () => closed++);
      await new Promise((resolve) => socket.once("data", resolve).once("close", resolve));
    }
  };
  try {
    await come(8);
    expect(closed).toBe(4);
    await come(8, accomplice);
    expect(closed).toBe(4 + 6);
    using first = peer(server.port, clientTls);
    await reach(first, "ready");
    expect(await first.shardStatuses(forever)).toEqual([]);
    // Who leaves makes room for another.
    for (const socket of sockets.filter(({ destroyed }) => !destroyed).slice(0, 2)) socket.destroy();
    await vi.waitFor(() => expect(closed).toBe(12));
    await vi.waitFor(async () => {
      const before = closed;
      await come(1);
      expect(closed).toBe(before);
    });
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test("S11: without TLS who does not speak HTTP/2 is cut at once, who speaks it in pieces is heard", async () => {
  await using server = await serve(undefined);
  using crowd = new Crowd();
  await crowd.come(server.port, 1, "GET / HTTP/1.1\r\n\r\n");
  await crowd.closed(1);
  const socket = connect(server.port, "127.0.0.1");
  for (const letter of PREFACE) {
    socket.write(letter);
    await new Promise(setImmediate);
  }
  // An empty SETTINGS frame.
  socket.write(Buffer.from("000000040000000000", "hex"));
  const response = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
  // Theirs.
  expect(response[3]).toBe(4);
  socket.destroy();
});
