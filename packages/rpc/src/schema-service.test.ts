import { type handleUnaryCall, Server, ServerCredentials } from "@grpc/grpc-js";
import { type ClassDefinition, ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { connectCoordinator } from "./client/connect-coordinator.js";
import { SCHEMA_SERVICE } from "./coordinator-services.js";
import { deliveryOf, messageInFull } from "./delivery.js";
import type { NodeDirectory, NodeRecord } from "./node-service.js";
import type { ChangeContext, ClassPlan, ClassRecord, SchemaSnapshot, ServedSchema } from "./schema-service.js";
import { coordinatorHandlers } from "./server/coordinator-handlers.js";
import { createRpcServer } from "./server/rpc-server.js";
import { MemorySchema } from "./testing/memory-schema.js";
import { definitionOf, describeSchemaService } from "./testing/schema-service-suite.js";
import type { Written } from "./wire/protobuf.js";
import { applyUpdate, updateBetween } from "./wire/schema-update.js";
import { type RECORD_RESPONSE, SCHEMA } from "./wire/services.js";

type RecordResponse = Written<typeof RECORD_RESPONSE>;

const now = () => Date.now();
const context = { deadline: Number.POSITIVE_INFINITY };
const address = { host: "127.0.0.1", port: 0, now };

describeSchemaService("in the process", async () => ({
  service: new MemorySchema(),
  [Symbol.asyncDispose]: async () => undefined,
}));

describeSchemaService("over gRPC", async () => {
  const server = await createRpcServer({ schema: new MemorySchema() }, address);
  const coordinator = connectCoordinator([`127.0.0.1:${server.port}`], { now });
  return {
    service: coordinator.schema,
    async [Symbol.asyncDispose]() {
      coordinator[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
});

function snapshotOf(version: number, classes: readonly (readonly [id: number, text: number])[]): SchemaSnapshot {
  const records = classes.map(([id, text]) => ({ classId: `c${id}`, definition: { text }, dimensions: undefined }));
  return { historyId: "h", version, classes: records } as unknown as SchemaSnapshot;
}

describe("updates", () => {
  const seed = Number(process.env.RPC_SEED) || 9;
  const sent = (update: ReturnType<typeof updateBetween>) =>
    SCHEMA.Watch.responseDeserialize(SCHEMA.Watch.responseSerialize(update));

  test(`lead from any schema to any other, seed ${seed}`, () => {
    const { below } = seededRandom(seed);
    let whole = 0;
    for (let round = 0; round < 500; round++) {
      const draw = () => {
        const ids = Array.from({ length: 8 }, (_, id) => id).filter(() => below(2) === 0);
        if (below(10) === 0) ids.reverse();
        return snapshotOf(
          below(5),
          ids.map((id) => [id, below(2)] as const),
        );
      };
      const before = draw();
      const later = below(10) === 0 ? draw() : { ...draw(), version: before.version + below(5) };
      const former = Array.from({ length: below(3) }, (_, at) => ({ historyId: at ? "else" : "h", upTo: below(5) }));
      const other = { ...later, historyId: "other", ...(former.length > 0 && { former }) };
      const after = below(5) === 0 ? other : later;
      const update = sent(updateBetween(before, after));
      expect(applyUpdate(before, update)).toEqual(after);
      if (update.whole) whole++;
      expect(applyUpdate(undefined, sent(updateBetween(undefined, after)))).toEqual(after);
    }
    expect(whole).toBeLessThan(400);
  });

  test("of one property of a thousand classes are small", () => {
    const classes = Array.from({ length: 1_000 }, (_, id) => [id, 0] as const);
    const after = classes.map(([id]) => [id, id === 500 ? 1 : 0] as const);
    const update = updateBetween(snapshotOf(1, classes), snapshotOf(2, after));
    expect(update.recordsJson).toHaveLength(1);
    expect(SCHEMA.Watch.responseSerialize(update).length).toBeLessThan(200);
  });
});

describe("several coordinators", () => {
  test("are asked in turn, and the watch goes on at another one", async () => {
    const schema = new MemorySchema();
    const first = await createRpcServer({ schema }, address);
    const second = await createRpcServer({ schema }, address);
    const closed = await createRpcServer({ schema }, address);
    await closed[Symbol.asyncDispose]();
    const addresses = [closed, first, second].map(({ port }) => `127.0.0.1:${port}`);
    const reachable: boolean[] = [];
    using coordinator = connectCoordinator(addresses, { now, onReachable: (is) => reachable.push(is) });
    const versions: number[] = [];
    using _watch = coordinator.schema.watch(({ version }) => versions.push(version));
    const definition = definitionOf("A");
    const { classId } = await coordinator.schema.addClass(definition, context);
    await expect.poll(() => reachable).toEqual([true]);
    await first[Symbol.asyncDispose]();
    await coordinator.schema.deleteClass({ className: "A", classId }, context);
    await schema.addClass(definition);
    await expect.poll(() => versions.at(-1)).toBe(4);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    await second[Symbol.asyncDispose]();
    await expect.poll(() => coordinator.isReachable).toBe(false);
    const failed = coordinator.schema.addClass(definition, { deadline: now() + 20_000 });
    const message = "the coordinator cannot be reached";
    await expect(failed).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 1, message });
    await expect(failed.catch(messageInFull)).resolves.toContain(`${message}: no connection to 127.0.0.1:`);
  });

  test("that are lost on the way leave open whether a change was made", async () => {
    let begun: () => void = () => undefined;
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const schema = Object.assign(new MemorySchema(), {
      addClass: () => {
        begun();
        return new Promise<never>(() => undefined);
      },
    });
    const server = await createRpcServer({ schema }, address);
    using coordinator = connectCoordinator([`127.0.0.1:${server.port}`], { now });
    const lost = coordinator.schema.addClass(definitionOf("A"), context).catch((error) => error);
    await isBegun;
    await server[Symbol.asyncDispose]();
    const error: ShoalError = await lost;
    expect(error.message).toContain("may have been carried out");
    expect([error.code, deliveryOf(error)]).toEqual(["unavailable", "unknown"]);
  });

  test("are sent a change again under its id when one was lost on the way, and it is settled", async () => {
    const asked: (string | undefined)[] = [];
    const schema = new MemorySchema();
    let lose = (): void => {};
    const isLost = new Promise<void>((resolve) => (lose = resolve));
    const losing = Object.assign(new MemorySchema(), {
      addClass: (_: ClassDefinition, { changeId }: ChangeContext) => {
        asked.push(changeId);
        lose();
        return new Promise<never>(() => undefined);
      },
    });
    const first = await createRpcServer({ schema: losing }, address);
    using coordinator = connectCoordinator([`127.0.0.1:${first.port}`], { now });
    const made = coordinator.schema.addClass(definitionOf("A"), context);
    await isLost;
    await first[Symbol.asyncDispose]();
    const responding = Object.assign(schema, {
      addClass: (definition: ClassDefinition, { changeId }: ChangeContext) => {
        asked.push(changeId);
        return MemorySchema.prototype.addClass.call(schema, definition);
      },
    });
    await using _second = await createRpcServer({ schema: responding }, { ...address, port: first.port });
    expect((await made).definition.class).toBe("A");
    expect(asked).toEqual([asked[0], asked[0]]);
    expect(schema.settled).toEqual([asked[0]]);
  });

  test("of another cluster are refused, and pass for unreachable", async () => {
    const schema = new MemorySchema();
    await using server = await createRpcServer({ schema }, { ...address, clusterId: () => "cluster-2" });
    const coordinators = [`127.0.0.1:${server.port}`];
    using stranger = connectCoordinator(coordinators, { now, clusterId: () => "cluster-1" });
    const refusal = { code: "unavailable", message: expect.stringContaining("'cluster-1'") };
    await expect(stranger.schema.current(context)).rejects.toMatchObject(refusal);
    const definition = definitionOf("A");
    await expect(stranger.schema.addClass(definition, context)).rejects.toMatchObject(refusal);
    expect([stranger.isReachable, stranger.foreignClusterId]).toEqual([false, "cluster-2"]);
    using member = connectCoordinator(coordinators, { now, clusterId: () => "cluster-2" });
    using unborn = connectCoordinator(coordinators, { now });
    await member.schema.addClass(definition, context);
    expect((await unborn.schema.current(context)).classes).toHaveLength(1);
  });

  test("F6: hear with each new class which nodes the caller does not reach", async () => {
    const heard: (readonly string[] | undefined)[] = [];
    const schema: ServedSchema = Object.assign(new MemorySchema(), {
      addClass: async (definition: ClassDefinition, _context: ChangeContext, plan?: ClassPlan) => {
        heard.push(plan?.lostNodes);
        return recordOf(definition);
      },
      ensureClass: async (definition: ClassDefinition, _context: ChangeContext, plan?: ClassPlan) => {
        heard.push(plan?.lostNodes);
        return { record: recordOf(definition), isMade: true };
      },
    });
    const recordOf = (definition: ClassDefinition): ClassRecord => {
      return { definition, sharding: { shards: [], virtualShards: [], assignments: [] }, classId: "c", dimensions: 1 };
    };
    await using server = await createRpcServer({ schema }, address);
    const lostNodes: string[] = [];
    const addresses = [`127.0.0.1:${server.port}`];
    using coordinator = connectCoordinator(addresses, { now, lostNodes: () => lostNodes });
    using silent = connectCoordinator(addresses, { now });
    const definition = definitionOf("A");
    await coordinator.schema.addClass(definition, context);
    lostNodes.push("n1", "n3");
    await coordinator.schema.addClass(definition, context);
    await coordinator.schema.ensureClass(definition, context);
    await coordinator.schema.ensureClass(definition, context, { lostNodes: ["n2"] });
    await silent.schema.addClass(definition, context);
    expect(heard).toEqual([[], ["n1", "n3"], ["n1", "n3"], ["n2"], []]);
  });

  test("S8: of a coordinator that does not say what it has changed, all that was asked for counts as changed", async () => {
    using stopped = { signal: new AbortController(), [Symbol.dispose]: () => stopped.signal.abort() };
    const options = { isSecure: false, stopped: stopped.signal.signal };
    const handlers = coordinatorHandlers(SCHEMA_SERVICE, new MemorySchema(), options);
    type Handler = handleUnaryCall<unknown, RecordResponse>;
    const silent = (name: string): Handler => {
      const handler = handlers[name] as Handler;
      return (call, callback) => handler(call, (error, response) => callback(error, asBefore(response)));
    };
    const server = new Server();
    const ensuring = { EnsureClass: silent("EnsureClass"), EnsureProperties: silent("EnsureProperties") };
    server.addService(SCHEMA, { ...handlers, ...ensuring });
    const asBefore = (response: RecordResponse | null | undefined): RecordResponse => {
      const { position, recordJson } = response ?? {};
      return { position, recordJson };
    };
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    try {
      using coordinator = connectCoordinator([`127.0.0.1:${port}`], { now });
      const { record, isMade } = await coordinator.schema.ensureClass(definitionOf("A"), context);
      expect(isMade).toBe(true);
      const wanted = [{ name: "seats", dataType: ["int"] }];
      const { added } = await coordinator.schema.ensureProperties("A", record.classId, wanted, context);
      expect(added).toEqual(["seats"]);
    } finally {
      server.forceShutdown();
    }
  });

  test("repeat a change only when it is safe", async () => {
    const asked: string[] = [];
    const failing = (name: string) =>
      Object.assign(new MemorySchema(), {
        addClass: async () => {
          asked.push(`${name} addClass`);
          throw new ShoalError("unavailable", "etcd is away");
        },
        ensureClass: async () => {
          asked.push(`${name} ensureClass`);
          throw new ShoalError("unavailable", "etcd is away");
        },
      });
    await using first = await createRpcServer({ schema: failing("first") }, address);
    await using second = await createRpcServer({ schema: failing("second") }, address);
    using coordinator = connectCoordinator(
      [first, second].map(({ port }) => `127.0.0.1:${port}`),
      { now },
    );
    const definition = definitionOf("A");
    await expect(coordinator.schema.addClass(definition, context)).rejects.toThrow("etcd is away");
    expect(asked).toHaveLength(1);
    await expect(coordinator.schema.ensureClass(definition, context)).rejects.toThrow("etcd is away");
    expect(asked.slice(1).sort()).toEqual(["first ensureClass", "second ensureClass"]);
  });
});

describe("NodeService over gRPC", () => {
  test("registers and removes nodes and tells of all of them", async () => {
    const listeners = new Set<(directory: NodeDirectory) => void>();
    let directory: NodeDirectory = { version: 1, expectedStorageNodes: 2, nodes: [] };
    const nodes = {
      async register(node: NodeRecord) {
        directory = { ...directory, version: directory.version + 1, nodes: [...directory.nodes, node] };
        for (const listener of listeners) listener(directory);
      },
      async confirmDropped() {},
      async remove(name: string) {
        const node = directory.nodes.find((one) => one.name === name);
        if (node === undefined) throw new ShoalError("notFound", `no ${name}`);
        directory = { ...directory, nodes: directory.nodes.filter((one) => one !== node) };
        for (const listener of listeners) listener(directory);
        return node;
      },
      watch(listener: (directory: NodeDirectory) => void) {
        listeners.add(listener);
        listener(directory);
        return { [Symbol.dispose]: () => listeners.delete(listener) };
      },
    };
    await using server = await createRpcServer({ nodes }, address);
    using coordinator = connectCoordinator([`127.0.0.1:${server.port}`], { now });
    const seen: NodeDirectory[] = [];
    using _watch = coordinator.nodes.watch((one) => seen.push(one));
    await coordinator.nodes.register({ name: "n1", address: "h:1", shoalVersion: "1.0.0", gitHash: "a" }, context);
    await coordinator.nodes.register({ name: "n2", address: undefined, shoalVersion: "", gitHash: "" }, context);
    await expect.poll(() => seen.at(-1)).toEqual(directory);
    expect(directory.nodes).toHaveLength(2);
    const removed = await coordinator.nodes.remove("n2", context);
    expect(removed).toEqual({ name: "n2", address: undefined, shoalVersion: "", gitHash: "" });
    await expect.poll(() => seen.at(-1)?.nodes.map(({ name }) => name)).toEqual(["n1"]);
    await expect(coordinator.nodes.remove("n2", context)).rejects.toMatchObject({ code: "notFound", message: "no n2" });
  });
});
