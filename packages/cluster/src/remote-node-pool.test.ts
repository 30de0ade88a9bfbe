import type { NodeDirectory, NodeRecord, ShardService } from "@shoal/rpc";
import { describe, expect, it } from "vitest";
import { FakeConnection } from "./fake-connection.fixture.js";
import { HeldRequests } from "./held-requests.js";
import { RemoteNodePool, type RemoteNodePoolOptions } from "./remote-node-pool.js";

function directory(addresses: Readonly<Record<string, string | undefined>>, expectedStorageNodes = 1): NodeDirectory {
  const nodes = Object.entries(addresses).map(([name, address]): NodeRecord => {
    return { name, address, shoalVersion: "1", gitHash: "abc" };
  });
  return { version: 1, expectedStorageNodes, nodes };
}

/** A coordinator whose list the test changes, and connections that it looks at. */
function setUp(options: Partial<RemoteNodePoolOptions> = {}) {
  const made: { readonly to: string; readonly connection: FakeConnection }[] = [];
  let publish: (directory: NodeDirectory) => void = () => {};
  const pool = new RemoteNodePool(
    {
      watch: (listener) => {
        publish = listener;
        return { [Symbol.dispose]: () => {} };
      },
    },
    {
      connect: (name, address) => {
        const connection = new FakeConnection(name, { shardStatuses: async () => [] }, "ready");
        made.push({ to: `${name} at ${address}`, connection });
        return connection;
      },
      shardWaitMs: 15_000,
      held: new HeldRequests(),
      nowMs: () => 0,
      ...options,
    },
  );
  return { pool, made, publish: (one: NodeDirectory) => publish(one) };
}

describe("RemoteNodePool", () => {
  it("has one connection a node, another when its address changes, and none to one that is gone", async () => {
    const { pool, made, publish } = setUp();
    expect([pool.directory, pool.isComplete, pool.node("a")]).toEqual([undefined, false, undefined]);
    publish(directory({ a: "h:1", b: "h:2" }, 3));
    const [a, b] = [pool.node("a"), pool.node("b")];
    expect(pool.isComplete).toBe(false);
    publish(directory({ a: "h:9", b: "h:2", c: "h:3" }, 3));
    expect(pool.isComplete).toBe(true);
    expect(made.map(({ to }) => to)).toEqual(["a at h:1", "b at h:2", "a at h:9", "c at h:3"]);
    expect(made.map(({ connection }) => connection.isClosed)).toEqual([true, false, false, false]);
    // Requests that wait for a node, and plans that were made with it, go on.
    expect([pool.node("a"), pool.node("b")]).toEqual([a, b]);
    expect(pool.node("a")).toBe(a);
    await a?.shardStatuses({ deadline: 1 });
    expect(made.map(({ connection }) => connection.sent)).toEqual([0, 0, 1, 0]);
    publish(directory({ a: "h:9", c: "h:3" }, 3));
    expect(pool.node("b")).toBeUndefined();
    expect(pool.nodes.map(({ record }) => record.name)).toEqual(["a", "c"]);
    pool[Symbol.dispose]();
    expect(made.every(({ connection }) => connection.isClosed)).toBe(true);
  });

  it("F6: tells which nodes are lost: none before it has tried to connect, nor during a drain, nor itself", () => {
    const { pool, made, publish } = setUp({ local: { name: "a", service: {} as ShardService } });
    expect(pool.lostNodes).toEqual([]);
    publish(directory({ a: undefined, b: "h:2", c: "h:3", d: "h:4", unheard: undefined }));
    const [b, c, d] = made.map(({ connection }) => connection);
    for (const one of [b, c, d]) one?.become("connecting");
    expect(pool.lostNodes).toEqual([]);
    for (const one of [b, c, d]) one?.become("ready");
    b?.become("unreachable");
    c?.become("draining");
    c?.become("unreachable");
    expect(pool.lostNodes).toEqual(["b"]);
    // Another address is another try.
    publish(directory({ a: undefined, b: "h:9", c: "h:3", d: "h:4" }));
    expect(pool.lostNodes).toEqual([]);
    d?.become("unreachable");
    expect(pool.lostNodes).toEqual(["d"]);
    expect(["a", "b", "d", "nobody"].map((name) => pool.isLost(name))).toEqual([false, false, true, false]);
  });

  it("calls the node of its own process directly", () => {
    const service = {} as ShardService;
    const { pool, made, publish } = setUp({ local: { name: "a", service } });
    publish(directory({ a: undefined }));
    expect(pool.node("a")).toBe(service);
    expect(made).toEqual([]);
  });

  it("begins with what it remembers", () => {
    const { pool, made, publish } = setUp({ remembered: directory({ a: "h:1" }) });
    expect([pool.isComplete, pool.isReported, made.map(({ to }) => to)]).toEqual([true, false, ["a at h:1"]]);
    const seen: number[] = [];
    pool.onChange(({ nodes }) => seen.push(nodes.length));
    publish(directory({ a: "h:1", b: "h:2" }));
    expect([pool.isReported, seen, made.map(({ to }) => to)]).toEqual([true, [2], ["a at h:1", "b at h:2"]]);
  });
});
