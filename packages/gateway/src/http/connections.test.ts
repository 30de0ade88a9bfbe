import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { Connections } from "./connections.js";

class FakeSocket extends EventEmitter {
  destroyed = false;

  constructor(readonly remoteAddress: string) {
    super();
  }

  destroy(): void {
    this.destroyed = true;
  }
}

describe("Connections", () => {
  const socketOf = (address: string): Socket => new FakeSocket(address) as unknown as Socket;
  const destroyed = (sockets: readonly Socket[]): number[] =>
    sockets.flatMap((socket, at) => (socket.destroyed ? [at] : []));

  it("S11: closes a few idle ones for each newcomer, not many in one step, and no more than make room", () => {
    const connections = new Connections(640);
    const flood = Array.from({ length: 560 }, () => socketOf("10.0.0.1"));
    for (const socket of flood) expect(connections.add(socket)).toBe(0);
    const used = connections.of(flood[2] as Socket);
    connections.begin(used);
    // None of those that are closed is gone before the event loop goes on.
    const newcomers = Array.from({ length: 40 }, () => socketOf("10.0.0.2"));
    for (const socket of newcomers) expect(connections.add(socket)).toBe(1);
    expect([connections.size, connections.closedIdle]).toEqual([600, 40]);
    // Those of the address that has most, in the order in which they came, but for the one at work.
    expect(destroyed(flood)).toEqual([0, 1, ...Array.from({ length: 38 }, (_, at) => 3 + at)]);
    for (const socket of [...flood, ...newcomers]) if (socket.destroyed) socket.emit("close");
    expect(connections.size).toBe(560);
    expect(connections.add(socketOf("10.0.0.3"))).toBe(1);
  });

  it("S11: does not close one that was used since it was chosen", () => {
    const connections = new Connections(64);
    const sockets = Array.from({ length: 56 }, () => socketOf("10.0.0.1"));
    for (const socket of sockets) connections.add(socket);
    connections.add(socketOf("10.0.0.2"));
    expect(destroyed(sockets)).toEqual([0]);
    const next = connections.of(sockets[1] as Socket);
    connections.begin(next);
    connections.end(next);
    connections.begin(connections.of(sockets[2] as Socket));
    connections.add(socketOf("10.0.0.2"));
    expect(destroyed(sockets)).toEqual([0, 3]);
  });

  it("S11: closes none of those that are at work, however many there are", () => {
    const connections = new Connections(8);
    const sockets = Array.from({ length: 12 }, () => socketOf("10.0.0.1"));
    const closed = sockets.map((socket) => {
      const count = connections.add(socket);
      connections.begin(connections.of(socket));
      return count;
    });
    expect([closed.every((count) => count === 0), connections.size]).toEqual([true, 12]);
  });
});
