import type { NodeDirectory, NodeMessage } from "@shoal/rpc";
import { expect, it } from "vitest";
import { Peers } from "./peers.js";

const message: NodeMessage = {
  type: "heartbeat",
  heartbeat: { stamp: { run: "r", at: 1 }, echo: undefined, holds: new Map() },
};

it("one connection a node, made when there is something to say, and anew where the node has another address", () => {
  const log: string[] = [];
  let tell: (directory: NodeDirectory) => void = () => undefined;
  const follow = (...nodes: (readonly [string, string | undefined])[]) =>
    tell({ nodes: nodes.map(([name, address]) => ({ name, address })) } as unknown as NodeDirectory);
  const peers = new Peers({
    nodeName: "n1",
    nodes: {
      watch: (listener) => {
        tell = listener;
        return { [Symbol.dispose]: () => void log.push("unwatched") };
      },
    },
    connect: (name, address) => {
      log.push(`connect ${name} ${address}`);
      return {
        send: () => log.push(`send ${name}`) > 0,
        [Symbol.dispose]: () => void log.push(`close ${name} ${address}`),
      };
    },
  });
  const logged = () => log.splice(0);
  peers.send("n2", message);
  expect(logged()).toEqual([]);
  follow(["n1", "a1"], ["n2", "a2"], ["n3", undefined]);
  expect(logged()).toEqual([]);
  for (const name of ["n1", "n2", "n2", "n3"]) peers.send(name, message);
  expect(logged()).toEqual(["connect n2 a2", "send n2", "send n2"]);
  follow(["n1", "a1"], ["n2", "a2"], ["n3", "a3"]);
  expect(logged()).toEqual([]);
  follow(["n2", "b2"]);
  peers.send("n2", message);
  expect(logged()).toEqual(["close n2 a2", "connect n2 b2", "send n2"]);
  follow();
  peers.send("n2", message);
  expect(logged()).toEqual(["close n2 b2"]);
  follow(["n2", "b2"], ["n3", "a3"]);
  for (const name of ["n2", "n3"]) peers.send(name, message);
  logged();
  peers[Symbol.dispose]();
  expect(logged()).toEqual(["unwatched", "close n2 b2", "close n3 a3"]);
});
