import { ChannelCredentials, Client, type ServiceError, status } from "@grpc/grpc-js";
import { ShoalError } from "@shoal/model";
import { initialConfiguration } from "@shoal/replication";
import { beforeAll, describe, expect, test } from "vitest";
import { connectCoordinator } from "./client/connect-coordinator.js";
import { connectNode } from "./client/node-channel.js";
import type { NodeService } from "./node-service.js";
import type { ClassIncarnation, ServedSchema } from "./schema-service.js";
import { createRpcServer } from "./server/rpc-server.js";
import { MemoryCopies } from "./testing/memory-copies.js";
import { reach } from "./testing/open-link.js";
import { scriptedNode } from "./testing/scripted-node.js";
import { SwappedTls, TestAuthority } from "./testing/test-certificates.js";
import type { TlsMaterial, TlsSource } from "./tls/tls-source.js";
import { SHARDS } from "./wire/packet-codec.js";

const now = () => Date.now();
const forever = { deadline: Number.POSITIVE_INFINITY };

let ours: TestAuthority;
let others: TestAuthority;

beforeAll(async () => {
  ours = await TestAuthority.make("ours");
  others = await TestAuthority.make("others");
});

function serve(tls: TlsSource, name = "node-1") {
  return createRpcServer({ node: scriptedNode(() => [], name) }, { host: "127.0.0.1", port: 0, now, tls });
}

function connect(port: number, tls: TlsMaterial | undefined, name = "node-1") {
  const source = tls && new SwappedTls(tls);
  return connectNode(name, `127.0.0.1:${port}`, { now, schemaVersion: () => 0, tls: source });
}

async function reasonOf(client: ReturnType<typeof connect>): Promise<string> {
  await reach(client, "unreachable");
  return client.shardStatuses(forever).then(
    () => "answered",
    (error: ShoalError) => error.message,
  );
}

describe("between processes with certificates", () => {
  test("of one authority there is a connection", async () => {
    await using server = await serve(new SwappedTls(await ours.sign(["node-1", "host.example"])));
    using client = connect(server.port, await ours.sign(["gateway"]));
    await reach(client, "ready");
    expect(await client.shardStatuses(forever)).toEqual([]);
  });

  test("there is none for callers with no certificate, one of another authority, or one that has expired", async () => {
    await using server = await serve(new SwappedTls(await ours.sign(["node-1"])));
    const stranger = { ...(await others.sign(["gateway"])), ca: ours.ca };
    for (const tls of [undefined, stranger, await ours.sign(["gateway"], 1)]) {
      using client = connect(server.port, tls);
      expect(await reasonOf(client)).toMatch(/^127\.0\.0\.1:\d+: ./);
    }
    const client = new Client(
      `127.0.0.1:${server.port}`,
      ChannelCredentials.createSsl(ours.ca, null, null, {
        checkServerIdentity: () => undefined,
      }),
    );
    const { path, requestSerialize, responseDeserialize } = SHARDS.Talk;
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
    stream.on("data", () => undefined);
    const error = await new Promise<ServiceError>((resolve) => stream.on("error", resolve));
    expect(error.code).toBe(status.UNAVAILABLE);
    client.close();
  });

  test("there is none to a node of another authority, with another name, or with an expired certificate", async () => {
    const mine = await ours.sign(["gateway"]);
    const refused: readonly (readonly [TlsMaterial, RegExp])[] = [
      [{ ...(await others.sign(["node-1"])), ca: ours.ca }, /certificate/i],
      [await ours.sign(["node-2"]), /its certificate is that of 'node-2', not 'node-1'/],
      [await ours.sign(["node-1"], 1), /certificate has expired/],
    ];
    for (const [tls, reason] of refused) {
      await using server = await serve(new SwappedTls(tls));
      using client = connect(server.port, mine);
      expect(await reasonOf(client)).toMatch(reason);
    }
  });

  test("new ones are used without a restart, on both sides", async () => {
    const serverTls = new SwappedTls(await ours.sign(["node-1"]));
    const server = await serve(serverTls);
    const clientTls = new SwappedTls(await ours.sign(["gateway"]));
    using client = connectNode("node-1", `127.0.0.1:${server.port}`, { now, schemaVersion: () => 0, tls: clientTls });
    await reach(client, "ready");
    serverTls.swap(await others.sign(["node-1"]));
    // What stands goes on; what is new needs the other authority.
    expect(await client.shardStatuses(forever)).toEqual([]);
    using late = connect(server.port, await ours.sign(["gateway"]));
    expect(await reasonOf(late)).toMatch(/certificate/i);
    using fresh = connect(server.port, await others.sign(["gateway"]));
    await reach(fresh, "ready");
    clientTls.swap(await others.sign(["gateway"]));
    const { port } = server;
    await server[Symbol.asyncDispose]();
    await reach(client, "unreachable");
    const again = { host: "127.0.0.1", port, now, tls: serverTls };
    await using _server = await createRpcServer({ node: scriptedNode(() => []) }, again);
    await reach(client, "ready");
  });

  test("a node is registered by itself and removed by gateways only", async () => {
    const registered: string[] = [];
    const nodes = {
      register: async ({ name }: { readonly name: string }) => void registered.push(name),
      confirmDropped: () => Promise.reject(new Error("not part of this test")),
      remove: async (name: string) => {
        registered.splice(registered.indexOf(name), 1);
        return { name, address: undefined, shoalVersion: "", gitHash: "" };
      },
      watch: () => ({ [Symbol.dispose]: () => undefined }),
    };
    const tls = new SwappedTls(await ours.sign(["coordinator"]));
    await using server = await createRpcServer({ nodes }, { host: "127.0.0.1", port: 0, now, tls });
    const mine = new SwappedTls(await ours.sign(["node-1", "host.example"]));
    using coordinator = connectCoordinator([`127.0.0.1:${server.port}`], { now, tls: mine });
    const context = { deadline: now() + 10_000 };
    const record = { address: "host.example:7101", shoalVersion: "1.0.0", gitHash: "abc" };
    await coordinator.nodes.register({ name: "node-1", ...record }, context);
    const refused = coordinator.nodes.register({ name: "node-2", ...record }, context);
    await expect(refused).rejects.toEqual(
      new ShoalError("forbidden", "whoever has the certificate of 'node-1', 'host.example' spoke for node 'node-2'"),
    );
    expect(registered).toEqual(["node-1"]);
    await expect(coordinator.nodes.remove("node-1", context)).rejects.toMatchObject({
      code: "forbidden",
      message: "Remove is for gateways, it was called by whoever has the certificate of 'node-1', 'host.example'",
    });
    expect(registered).toEqual(["node-1"]);
    const gateway = new SwappedTls(await ours.sign(["gateway"]));
    using asGateway = connectCoordinator([`127.0.0.1:${server.port}`], { now, tls: gateway });
    await asGateway.nodes.remove("node-1", context);
    expect(registered).toEqual([]);
  });

  test("who holds a shard is proposed by storage nodes, each for itself, and known to everybody", async () => {
    const copies = new MemoryCopies([["c/s", ["node-1/a", "node-2/b"]]]);
    const tls = new SwappedTls(await ours.sign(["coordinator"]));
    await using server = await createRpcServer({ copies }, { host: "127.0.0.1", port: 0, now, tls });
    const address = `127.0.0.1:${server.port}`;
    using asNode = connectCoordinator([address], { now, tls: new SwappedTls(await ours.sign(["node-1"])) });
    using asGateway = connectCoordinator([address], { now, tls: new SwappedTls(await ours.sign(["gateway"])) });
    const context = { deadline: now() + 10_000 };
    const first = initialConfiguration(["node-1/a", "node-2/b"]);
    const next = { ...first, version: 2 };
    const proposals = [{ shard: "c/s", next }];
    for (const [connection, name] of [
      [asNode, "node-1"],
      [asGateway, "gateway"],
    ] as const) {
      await expect(connection.copies.propose("node-2", proposals, context)).rejects.toEqual(
        new ShoalError("forbidden", `whoever has the certificate of '${name}' spoke for node 'node-2'`),
      );
    }
    expect(copies.configurationOf("c/s")?.version).toBe(1);
    await asNode.copies.propose("node-1", proposals, context);
    for (const { copies: known } of [asNode, asGateway]) {
      const seen: number[] = [];
      using _ = known.watch(({ configurations }) => seen.push(configurations.get("c/s")?.version ?? 1));
      await expect.poll(() => seen).toContain(2);
      expect((await known.current(context)).configurations.get("c/s")).toEqual(next);
    }
  });

  test("S6: who has the certificate of a contextionary, or of etcd, is let in nowhere, and is no node of its host's name", async () => {
    const registered: string[] = [];
    const nodes = {
      register: async ({ name }: { readonly name: string }) => void registered.push(name),
      watch: () => ({ [Symbol.dispose]: () => undefined }),
    } as Partial<NodeService> as NodeService;
    const schema = {
      current: async () => ({ historyId: "h", version: 1, classes: [] }),
      watch: () => ({ [Symbol.dispose]: () => undefined }),
    } as Partial<ServedSchema> as ServedSchema;
    const services = { nodes, schema };
    const tls = new SwappedTls(await ours.sign(["coordinator"]));
    await using server = await createRpcServer(services, { host: "127.0.0.1", port: 0, now, tls });
    const record = { name: "host.example", address: "host.example:7101", shoalVersion: "1.0.0", gitHash: "abc" };
    for (const role of ["contextionary", "etcd"]) {
      const own = new SwappedTls(await ours.sign([role, "host.example"]));
      using coordinator = connectCoordinator([`127.0.0.1:${server.port}`], { now, tls: own });
      const context = { deadline: now() + 500 };
      const refusal = { code: expect.stringMatching(/^(unavailable|deadlineExceeded)$/) };
      await expect(coordinator.nodes.register(record, context)).rejects.toMatchObject(refusal);
      await expect(coordinator.schema.current({ deadline: now() + 500 })).rejects.toMatchObject(refusal);
      // Nor does it pass for the storage node of that name.
      await using node = await serve(own);
      using client = connect(node.port, await ours.sign(["gateway"]), "host.example");
      expect(await reasonOf(client)).toMatch(
        `its certificate is that of '${role}', 'host.example', not 'host.example'`,
      );
    }
    expect(registered).toEqual([]);
    const host = new SwappedTls(await ours.sign(["host.example"]));
    using coordinator = connectCoordinator([`127.0.0.1:${server.port}`], { now, tls: host });
    await coordinator.nodes.register(record, { deadline: now() + 10_000 });
    expect(registered).toEqual(["host.example"]);
  });

  test("S6: who has a certificate of the authority that names nobody is let in nowhere, and is no node", async () => {
    const asked: string[] = [];
    const schema = {
      current: async () => {
        asked.push("current");
        return { historyId: "h", version: 1, classes: [] };
      },
      watch: () => ({ [Symbol.dispose]: () => undefined }),
    } as Partial<ServedSchema> as ServedSchema;
    const tls = new SwappedTls(await ours.sign(["coordinator"]));
    await using server = await createRpcServer({ schema }, { host: "127.0.0.1", port: 0, now, tls });
    const nobody = await ours.sign([]);
    using coordinator = connectCoordinator([`127.0.0.1:${server.port}`], { now, tls: new SwappedTls(nobody) });
    await expect(coordinator.schema.current({ deadline: now() + 500 })).rejects.toMatchObject({
      code: expect.stringMatching(/^(unavailable|deadlineExceeded)$/),
    });
    expect(asked).toEqual([]);
    await using node = await serve(new SwappedTls(await ours.sign(["node-1"])));
    using client = connect(node.port, nobody);
    expect(await reasonOf(client)).not.toBe("answered");
    await using strange = await serve(new SwappedTls(nobody));
    using gateway = connect(strange.port, await ours.sign(["gateway"]));
    expect(await reasonOf(gateway)).toMatch("its certificate is that of nobody, not 'node-1'");
  });

  test("data and changes are for gateways only", async () => {
    await using node = await serve(new SwappedTls(await ours.sign(["node-1"])));
    using client = connect(node.port, await ours.sign(["node-2"]));
    expect(await reasonOf(client)).toMatch(
      /Talk is for gateways, it was called by whoever has the certificate of 'node-2'/,
    );

    const deleted: string[] = [];
    const snapshot = { historyId: "h", version: 1, classes: [] };
    const schema = {
      current: async () => snapshot,
      watch: () => ({ [Symbol.dispose]: () => undefined }),
      deleteClass: async ({ className }: ClassIncarnation) => void deleted.push(className),
      settle: async () => undefined,
    } as Partial<ServedSchema> as ServedSchema;
    const tls = new SwappedTls(await ours.sign(["coordinator"]));
    await using server = await createRpcServer({ schema }, { host: "127.0.0.1", port: 0, now, tls });
    const address = `127.0.0.1:${server.port}`;
    using asNode = connectCoordinator([address], { now, tls: new SwappedTls(await ours.sign(["node-1"])) });
    using asGateway = connectCoordinator([address], { now, tls: new SwappedTls(await ours.sign(["gateway"])) });
    const context = { deadline: now() + 10_000 };
    expect(await asNode.schema.current(context)).toEqual(snapshot);
    await expect(asNode.schema.deleteClass({ className: "Word", classId: "c" }, context)).rejects.toMatchObject({
      code: "forbidden",
      message: "DeleteClass is for gateways, it was called by whoever has the certificate of 'node-1'",
    });
    expect(deleted).toEqual([]);
    await asGateway.schema.deleteClass({ className: "Word", classId: "c" }, context);
    expect(deleted).toEqual(["Word"]);
  });
});
