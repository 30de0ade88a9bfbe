import { Client, credentials, Metadata, Server, ServerCredentials } from "@grpc/grpc-js";
import { seededRandom } from "@shoal/seeded-random";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { type ConnectPeerOptions, connectPeer } from "./client/peer-channel.js";
import type { NodeMessage } from "./copy-service.js";
import type { PeerConnection } from "./peer-connection.js";
import type { PeerCall } from "./server/peer-serving.js";
import { createRpcServer, type RpcServerOptions } from "./server/rpc-server.js";
import { hello } from "./stream/message-head.js";
import { openCable } from "./testing/open-cable.js";
import { RandomValues } from "./testing/random-values.js";
import { scriptedNode } from "./testing/scripted-node.js";
import { SwappedTls, TestAuthority } from "./testing/test-certificates.js";
import { ByteWriter } from "./wire/byte-writer.js";
import { nodeMessage } from "./wire/copy-codec.js";
import { decodePacket, encodePacket, FrameKind, PEERS } from "./wire/packet-codec.js";
import { NODE_NAME } from "./wire/status-codec.js";

const MIB = 1024 * 1024;
const seed = Number(process.env.RPC_SEED) || 5;
const now = () => Date.now();

const document = "8d7e3a1c-0000-4000-8000-00000000000f";
const heartbeat: NodeMessage = {
  type: "heartbeat",
  heartbeat: { stamp: { run: "r", at: 1.5 }, echo: undefined, holds: new Map([["n3", 2]]) },
};

function append(sequence: number, bytes = 10): NodeMessage {
  const previous = { epoch: 1, sequence };
  const changes = [{ document, row: Buffer.alloc(bytes, sequence) }];
  const message = { type: "append", epoch: 1, previous, changes, committed: 0 } as const;
  return { type: "copy", shard: "c/s", from: "n1/a", to: "n2/b", message };
}

/** Comparing large rows byte by byte takes a test seconds. */
function summary(message: NodeMessage): string {
  if (message.type !== "copy" || message.message.type !== "append") return message.type;
  const { previous, changes } = message.message;
  const row = changes[0]?.row as Buffer;
  return `${previous.sequence}: ${row.length} of ${row[0]}, ${row.equals(Buffer.alloc(row.length, row[0]))}`;
}

class Inbox {
  readonly got: (readonly [string, NodeMessage])[] = [];

  receive(from: string, message: NodeMessage): void {
    this.got.push([from, message]);
  }

  get summaries(): readonly string[] {
    return this.got.map(([, message]) => summary(message));
  }
}

function serve(inbox: Inbox, options: Partial<RpcServerOptions> = {}, name = "n2") {
  const services = { node: scriptedNode(() => [], name), peers: inbox };
  return createRpcServer(services, { host: "127.0.0.1", port: 0, now, ...options });
}

function connect(port: number, options: Partial<ConnectPeerOptions> = {}): PeerConnection {
  return connectPeer("n2", `127.0.0.1:${port}`, { from: "n1", ...options });
}

function reached(peer: PeerConnection, state = "ready"): Promise<void> {
  return vi.waitFor(() => expect(peer.state).toBe(state), { timeout: 5_000, interval: 5 });
}

describe("a connection to another storage node", () => {
  test(`brings messages of every type to it, with who sent them, seed ${seed}`, async () => {
    const inbox = new Inbox();
    await using server = await serve(inbox);
    using peer = connect(server.port);
    expect([peer.name, peer.state, peer.send(heartbeat)]).toEqual(["n2", "connecting", false]);
    await reached(peer);
    expect(peer.reason).toBe("");
    const values = new RandomValues(seededRandom(seed));
    const messages = Array.from({ length: 20 }, () => values.nodeMessages()).flat();
    expect(messages.every((message) => peer.send(message))).toBe(true);
    await expect.poll(() => inbox.got.length).toBe(messages.length);
    const sorted = (all: readonly NodeMessage[]) =>
      [true, false].flatMap((isHeartbeat) => {
        return all.filter(({ type }) => (type === "heartbeat") === isHeartbeat);
      });
    expect(sorted(inbox.got.map(([, message]) => message))).toEqual(sorted(messages));
    expect(new Set(inbox.got.map(([from]) => from))).toEqual(new Set(["n1"]));
  });

  test("cuts large messages, which small ones pass", async () => {
    const inbox = new Inbox();
    await using server = await serve(inbox);
    using peer = connect(server.port);
    await reached(peer);
    for (const message of [append(1, 20 * MIB), append(2, 3 * MIB), heartbeat, append(3)]) {
      expect(peer.send(message)).toBe(true);
    }
    await expect.poll(() => inbox.got.length).toBe(4);
    expect(inbox.summaries.slice(0, 2)).toEqual(["heartbeat", summary(append(3))]);
    expect(inbox.summaries.slice(2).sort()).toEqual([append(2, 3 * MIB), append(1, 20 * MIB)].map(summary).sort());
  });

  test("sends what comes in one iteration of the event loop in one packet", async () => {
    const packets: number[] = [];
    await using server = await rawServer((call) => {
      call.on("data", (packet: Buffer) => packets.push(decodePacket(packet).length));
    });
    using peer = connect(server.port);
    await reached(peer);
    for (let sequence = 1; sequence <= 100; sequence++) peer.send(append(sequence));
    await expect.poll(() => packets).toEqual([100]);
  });

  test("is made again when the node is back, and when it had fallen silent; what was sent meanwhile is lost", async () => {
    const inbox = new Inbox();
    const first = await serve(inbox);
    await using cable = await openCable(first.port);
    using peer = connect(cable.port, { limits: { connectTimeoutMs: 300 } });
    await reached(peer);
    cable.cut();
    peer.send(append(1));
    await reached(peer, "unreachable");
    expect([peer.reason, peer.send(append(2))]).toEqual(["it said nothing for 2100 ms", false]);
    cable.mend();
    await reached(peer);
    peer.send(append(3));
    await expect.poll(() => inbox.summaries).toEqual([summary(append(3))]);
    await first[Symbol.asyncDispose]();
    await reached(peer, "unreachable");
    await using _second = await serve(inbox, { port: first.port });
    await reached(peer);
    peer.send(append(4));
    await expect.poll(() => inbox.summaries.at(-1)).toBe(summary(append(4)));
  });

  test("drops what a slow node does not take: what waits is bounded, and heartbeats pass it", async () => {
    let slow: PeerCall | undefined;
    let heartbeats = 0;
    const got: number[] = [];
    await using server = await rawServer((call) => {
      call.on("data", (packet: Buffer) => {
        got.push(packet.length);
        const isHeartbeat = packet.length < 100;
        if (isHeartbeat) heartbeats += decodePacket(packet).filter(({ kind }) => kind === FrameKind.REQUEST).length;
        else if (slow === undefined) slow = call.pause();
      });
    });
    using peer = connect(server.port, { limits: { unsentBytesMax: 4 * MIB } });
    await reached(peer);
    let accepted = 0;
    for (let round = 0; round < 100; round++) {
      if (peer.send(append(round, MIB))) accepted++;
      await new Promise(setImmediate);
    }
    // Beside what waits here: the windows of HTTP/2 and of TCP.
    expect(accepted).toBeGreaterThan(3);
    expect(accepted).toBeLessThan(40);
    expect([peer.send(append(1, MIB)), peer.send(append(1)), peer.send(heartbeat)]).toEqual([false, true, true]);
    await expect.poll(() => heartbeats).toBe(1);
    slow?.resume();
    await expect.poll(() => got.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(accepted * MIB);
    await expect.poll(() => peer.send(append(1, MIB))).toBe(true);
  });

  test("takes one message that is larger than what may wait, and none beyond what the other side takes", async () => {
    const inbox = new Inbox();
    const limits = { unsentBytesMax: MIB, messageBytesMax: 6 * MIB };
    await using server = await serve(inbox, { limits });
    using peer = connect(server.port, { limits });
    await reached(peer);
    expect([append(1, 7 * MIB), append(2, 5 * MIB), append(3, 10), heartbeat].map((one) => peer.send(one))).toEqual([
      ...[false, true, false, true],
    ]);
    await expect.poll(() => inbox.summaries).toEqual(["heartbeat", summary(append(2, 5 * MIB))]);
  });

  test("is not made to another node, nor to one of another cluster", async () => {
    await using other = await serve(new Inbox(), {}, "n3");
    using toOther = connect(other.port);
    await reached(toOther, "unreachable");
    expect(toOther.reason).toBe("it is node 'n3' that answers there");
    const inbox = new Inbox();
    await using server = await serve(inbox, { clusterId: () => "a" });
    using foreign = connect(server.port, { clusterId: () => "b" });
    await reached(foreign, "unreachable");
    expect(foreign.reason).toBe("the storage node is of cluster 'a', it was called by one of cluster 'b'");
    for (const clusterId of ["a", undefined]) {
      using same = connect(server.port, { clusterId: () => clusterId });
      await reached(same);
    }
  });

  test("stays through a drain until the process ends", async () => {
    const inbox = new Inbox();
    const server = await serve(inbox);
    using peer = connect(server.port);
    await reached(peer);
    await server.drain();
    using late = connect(server.port, { from: "n3" });
    await reached(late);
    expect([peer.state, peer.send(append(1)), late.send(heartbeat)]).toEqual(["ready", true, true]);
    await expect.poll(() => inbox.got.map(([from]) => from).sort()).toEqual(["n1", "n3"]);
    await server[Symbol.asyncDispose]();
    await reached(peer, "unreachable");
  });

  test("ends when it is disposed of", async () => {
    await using server = await serve(new Inbox());
    const peer = connect(server.port);
    await reached(peer);
    peer[Symbol.dispose]();
    peer[Symbol.dispose]();
    expect([peer.state, peer.send(heartbeat)]).toEqual(["unreachable", false]);
  });
});

describe("a storage node that others send messages to", () => {
  test(`ends the stream of whoever sends what is none, and no other, seed ${seed}`, async () => {
    const { below } = seededRandom(seed);
    const inbox = new Inbox();
    await using server = await serve(inbox);
    using peer = connect(server.port);
    await reached(peer);
    for (let round = 0; round < 60; round++) {
      const stream = rawStream(server.port, "n9");
      for (let packet = 0; packet < 10; packet++) {
        const payload = Buffer.from(Array.from({ length: below(60) }, () => below(packet % 2 ? 256 : 4)));
        const kind = [FrameKind.REQUEST, FrameKind.REQUEST_PART, FrameKind.ANSWER, FrameKind.PING][below(4)] ?? 2;
        stream.write(below(30) === 0 ? payload : encodePacket([{ request: below(4), kind, payload }]));
      }
      stream.end();
      await stream.ended;
    }
    expect([peer.state, peer.send(append(1))]).toEqual(["ready", true]);
    await expect.poll(() => inbox.got.filter(([from]) => from === "n1")).toHaveLength(1);
  });

  test("holds no more of unfinished messages than it may, and lets those be complete that get on", async () => {
    const inbox = new Inbox();
    await using server = await serve(inbox, { limits: { messageBytesMax: 8 * MIB } });
    using peer = connect(server.port);
    await reached(peer);
    const stream = rawStream(server.port, "n9");
    const part = (request: number, kind: number, payload: Buffer = Buffer.alloc(MIB)): void => {
      stream.write(encodePacket([{ request, kind, payload }]));
    };
    const isRead = async (): Promise<void> => {
      const ponged = new Promise((resolve) => stream.once("data", resolve));
      part(0, FrameKind.PING, Buffer.alloc(0));
      await ponged;
    };
    for (let request = 1; request <= 12; request++) part(request, FrameKind.REQUEST_PART);
    await isRead();
    // What is held for n9 makes room.
    expect(peer.send(append(1, 3 * MIB))).toBe(true);
    await expect.poll(() => inbox.summaries).toEqual([summary(append(1, 3 * MIB))]);
    // What still comes of messages that were cut off is passed over, and the stream goes on.
    part(1, FrameKind.REQUEST_PART);
    part(1, FrameKind.REQUEST);
    part(
      1,
      FrameKind.REQUEST,
      ByteWriter.bytesOf((writer) => nodeMessage(writer, heartbeat)),
    );
    await expect.poll(() => inbox.got.at(-1)).toEqual(["n9", heartbeat]);
    stream.end();
    await stream.ended;
    expect(peer.state).toBe("ready");
  });
});

describe("with certificates", () => {
  let ours: TestAuthority;
  beforeAll(async () => {
    ours = await TestAuthority.make("ours");
  });

  test("only a storage node speaks to others, and for itself", async () => {
    const inbox = new Inbox();
    await using server = await serve(inbox, { tls: new SwappedTls(await ours.sign(["n2"])) });
    const wrong: readonly (readonly [string, readonly string[]])[] = [
      ["n1", ["n3", "host.example"]],
      ["n1", ["gateway"]],
      ["n1", ["gateway", "n1"]],
      ["coordinator", ["coordinator"]],
      ["", ["n1"]],
    ];
    for (const [from, names] of wrong) {
      using peer = connect(server.port, { from, tls: new SwappedTls(await ours.sign(names)) });
      await reached(peer, "unreachable");
      const words = names.map((name) => `'${name}'`).join(", ");
      expect(peer.reason).toBe(`whoever has the certificate of ${words} spoke for node '${from}'`);
    }
    using peer = connect(server.port, { tls: new SwappedTls(await ours.sign(["n1", "host.example"])) });
    await reached(peer);
    peer.send(heartbeat);
    await expect.poll(() => inbox.got).toEqual([["n1", heartbeat]]);
  });

  test("only the node itself is spoken to", async () => {
    await using server = await serve(new Inbox(), { tls: new SwappedTls(await ours.sign(["n3"])) });
    using peer = connect(server.port, { tls: new SwappedTls(await ours.sign(["n1"])) });
    await reached(peer, "unreachable");
    expect(peer.reason).toMatch(/its certificate is that of 'n3', not 'n2'/);
  });
});

/** A server that greets as node n2 and does with streams what `take` does. */
async function rawServer(take: (call: PeerCall) => void) {
  const server = new Server();
  const greeting = ByteWriter.bytesOf((writer) => hello(writer, { nodeName: "n2", schemaVersion: 0 }));
  server.addService(PEERS, {
    Deliver: (call: PeerCall) => {
      call.on("error", () => undefined);
      call.write(encodePacket([{ request: 0, kind: FrameKind.HELLO, payload: greeting }]));
      take(call);
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { port, [Symbol.asyncDispose]: async () => server.forceShutdown() };
}

/** A stream of whatever is written. */
function rawStream(port: number, from: string) {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set(NODE_NAME, from);
  const { path, requestSerialize, responseDeserialize } = PEERS.Deliver;
  const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
  stream.on("data", () => undefined);
  const ended = new Promise<void>((resolve) => {
    stream.on("error", () => resolve()).on("end", () => resolve());
  }).then(() => client.close());
  return Object.assign(stream, { ended });
}
