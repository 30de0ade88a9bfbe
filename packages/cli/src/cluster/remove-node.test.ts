import { EmbeddedMetaStore, Ledger, NodeRegistry } from "@shoal/coordinator";
import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { NodeDirectory, ServedSchema } from "@shoal/rpc";
import { createRpcServer, type ServedNode } from "@shoal/rpc/grpc";
import { readConfiguration, type SettingSource } from "@shoal/service-runtime";
import { expect, it } from "vitest";
import { removeNode } from "./remove-node.js";

const now = () => Date.now();
const address = { host: "127.0.0.1", port: 0, now };
const context = { deadline: Number.POSITIVE_INFINITY };

function configuredFor(port: number) {
  const source: SettingSource = ({ variable }) =>
    variable === "COORDINATOR_ADDRESSES" ? { value: `127.0.0.1:${port}`, place: "the test" } : undefined;
  return readConfiguration([source], (message) => expect.unreachable(message));
}

it("removes a node that has ended, and none that runs or is unknown", async () => {
  const ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "h"), now);
  const nodes = new NodeRegistry(ledger, 1);
  const schema = {
    current: async () => ({ historyId: "h", version: 0, classes: [] }),
    watch: () => ({ [Symbol.dispose]: () => undefined }),
  } as Partial<ServedSchema> as ServedSchema;
  await using coordinator = await createRpcServer({ nodes, schema }, address);
  const running = { name: "n1", schemaVersion: 0 } as Partial<ServedNode> as ServedNode;
  const node = await createRpcServer({ node: running }, address);
  const record = { shoalVersion: "1", gitHash: "" };
  await nodes.register({ name: "n1", address: `127.0.0.1:${node.port}`, ...record }, context);
  await nodes.register({ name: "n2", address: "127.0.0.1:1", ...record }, context);
  const configuration = configuredFor(coordinator.port);
  await expect(removeNode("n1", configuration, now)).rejects.toMatchObject({
    code: "conflict",
    message: `storage node 'n1' runs at 127.0.0.1:${node.port} and would register again: stop its process first`,
  });
  await expect(removeNode("n3", configuration, now)).rejects.toMatchObject({ code: "notFound" });
  await node[Symbol.asyncDispose]();
  expect((await removeNode("n1", configuration, now)).name).toBe("n1");
  let left: NodeDirectory | undefined;
  nodes.watch((directory) => {
    left = directory;
  });
  expect(left?.nodes.map(({ name }) => name)).toEqual(["n2"]);
});

it("says that no coordinator answers", async () => {
  await expect(removeNode("n1", configuredFor(1), now)).rejects.toThrow(/the coordinator cannot be reached/);
});
