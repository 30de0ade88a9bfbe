import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { ClassDefinition } from "@shoal/model";
import { initialConfiguration, PLACEMENT, type ShardConfiguration } from "@shoal/replication";
import type { NodeClaim, NodeDirectory, NodePresence, NodeRecord, SchemaSnapshot } from "@shoal/rpc";
import { seededRandom } from "@shoal/seeded-random";
import { createShardingState } from "@shoal/sharding";
import { describe, expect, test } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { Ledger } from "./ledger.js";
import type { MetaStore } from "./meta-store.js";
import { copyNameOf, type FindNode, identityOf, NodeRegistry } from "./node-registry.js";
import { SchemaCoordinator } from "./schema-coordinator.js";
import { StoredCopies } from "./stored-copies.js";
import { confirmingHolders } from "./testing/confirming-holders.js";
import { deleteClass } from "./testing/delete-class.js";

const context = { deadline: Number.POSITIVE_INFINITY };

function node(name: string, address?: string): NodeRecord {
  return { name, address, shoalVersion: "1", gitHash: "abc" };
}

function definition(name: string, desiredCount = 3, factor = 1): ClassDefinition {
  const replicationConfig = { factor };
  return {
    ...{ class: name, properties: [], replicationConfig },
    shardingConfig: { desiredCount, virtualPerPhysical: 4 },
  } as never;
}

interface Opened {
  readonly copies: StoredCopies;
  readonly store: MetaStore;
  readonly nodes: NodeRegistry;
  readonly schema: SchemaCoordinator;
}

async function open(
  expectedStorageNodes: number,
  disk = new MemoryStore(),
  findNode: FindNode = async () => undefined,
): Promise<Opened> {
  const store = await EmbeddedMetaStore.open(disk, () => "history");
  const ledger = await Ledger.open(store, Date.now);
  confirmingHolders(ledger);
  let ids = 0;
  const { bytes } = seededRandom(7);
  const schema = new SchemaCoordinator({
    ledger,
    expectedStorageNodes,
    createSharding: ({ shardingConfig: { desiredCount, virtualPerPhysical }, replicationConfig }, nodeNames) =>
      createShardingState({ desiredCount, virtualPerPhysical, nodeNames, factor: replicationConfig?.factor }, bytes),
    newClassId: () => `id${++ids}`,
    limits: { classesMax: 10, propertiesPerClassMax: 10 },
    shardLimit: { max: 100, reason: "SCHEMA_SHARDS_MAX" },
  });
  const nodes = new NodeRegistry(ledger, expectedStorageNodes, findNode);
  return { store, nodes, schema, copies: new StoredCopies(ledger) };
}

async function revisionOf({ store }: Opened): Promise<number> {
  return (await store.load(context)).revision;
}

describe("NodeRegistry", () => {
  test("enters nodes by name and keeps their last address, also over a restart", async () => {
    const disk = new MemoryStore();
    const opened = await open(2, disk);
    const seen: NodeDirectory[] = [];
    const subscription = opened.nodes.watch((directory) => seen.push(directory));
    await opened.nodes.register(node("n2", "b:1"), context);
    await opened.nodes.register(node("n1", "a:1"), context);
    await opened.nodes.register(node("n2", "b:2"), context);
    subscription[Symbol.dispose]();
    await opened.nodes.register(node("n3"), context);
    expect(seen.map(({ nodes }) => nodes.map(({ name, address }) => `${name} ${address}`))).toEqual([
      [],
      ["n2 b:1"],
      ["n1 a:1", "n2 b:1"],
      ["n1 a:1", "n2 b:2"],
    ]);
    expect(seen.map(({ version }) => version)).toEqual([0, 1, 2, 3]);
    let again: NodeDirectory | undefined;
    (await open(2, disk)).nodes.watch((directory) => {
      again = directory;
    });
    expect(again).toEqual({
      version: 4,
      expectedStorageNodes: 2,
      nodes: [node("n1", "a:1"), node("n2", "b:2"), node("n3")],
    });
  });

  test("writes nothing when nothing changes", async () => {
    const opened = await open(1);
    for (const one of [node("n1", "a:1"), node("n2")]) await opened.nodes.register(one, context);
    const before = await revisionOf(opened);
    for (const one of [node("n1", "a:1"), node("n2")]) await opened.nodes.register(one, context);
    expect(await revisionOf(opened)).toBe(before);
    await opened.nodes.register({ ...node("n2"), shoalVersion: "2" }, context);
    expect(await revisionOf(opened)).toBe(before + 1);
  });

  test.each(["", "-n", "n.", "a b", "a/b", "ä", "n".repeat(254), "coordinator", "gateway"])(
    "refuses the name '%s'",
    async (name) => {
      const opened = await open(1);
      await expect(opened.nodes.register(node(name), context)).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringContaining(`'${name}' cannot name a storage node`),
      });
      expect(await revisionOf(opened)).toBe(0);
    },
  );
});

describe("a node that is removed", () => {
  test("is gone for everybody and after a restart, and may register again", async () => {
    const disk = new MemoryStore();
    const opened = await open(1, disk);
    for (const name of ["n1", "n2", "n3"]) await opened.nodes.register(node(name, `${name}:1`), context);
    const seen: NodeDirectory[] = [];
    opened.nodes.watch((directory) => seen.push(directory));
    // The one that came last takes the highest revision along.
    expect(await opened.nodes.remove("n3", context)).toEqual(node("n3", "n3:1"));
    await opened.nodes.remove("n1", context);
    const again = await open(1, disk);
    again.nodes.watch((directory) => seen.push(directory));
    await again.nodes.register(node("n3", "n3:2"), context);
    expect(seen.map(({ nodes }) => nodes.map(({ name }) => name).join())).toEqual([
      "n1,n2,n3",
      "n1,n2",
      "n2",
      "n2",
      "n2,n3",
    ]);
    expect(seen.map(({ version }) => version)).toEqual([3, 4, 5, 5, 6]);
    await again.schema.addClass(definition("Car", 4), context);
    const [owners] = (await again.schema.current(context)).classes.map(({ sharding }) =>
      sharding.shards.flatMap(({ members }) => members),
    );
    expect(new Set(owners)).toEqual(new Set(["n2", "n3"]));
  });

  test("does not change the schema's version", async () => {
    const { nodes, schema } = await open(1);
    await nodes.register(node("n1"), context);
    await schema.addClass(definition("Car"), context);
    await nodes.register(node("n2"), context);
    const before = await schema.current(context);
    await nodes.remove("n2", context);
    expect(await schema.current(context)).toBe(before);
  });

  test("must exist, have no shards, and be one too many", async () => {
    const opened = await open(1);
    const { nodes, schema } = opened;
    for (const name of ["n1", "n2"]) await nodes.register(node(name), context);
    await schema.addClass(definition("Car", 4), context);
    await schema.addClass(definition("Bus", 2), context);
    await nodes.register(node("n3"), context);
    const before = await revisionOf(opened);
    await expect(nodes.remove("n4", context)).rejects.toMatchObject({
      code: "notFound",
      message: "there is no storage node 'n4', registered are: 'n1', 'n2', 'n3'",
    });
    await expect(nodes.remove("n2", context)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("storage node 'n2' has shards, 2 of 'Car', 1 of 'Bus': delete these classes"),
    });
    expect(await revisionOf(opened)).toBe(before);
    await nodes.remove("n3", context);
    for (const name of ["Car", "Bus"]) await deleteClass(schema, name, context);
    await nodes.remove("n2", context);
    await expect(nodes.remove("n1", context)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining("'n1' is one of 1 that are registered, and as many are expected"),
    });
  });

  test("has as few classes in the message as a person reads", async () => {
    const { nodes, schema } = await open(0);
    await nodes.register(node("n1"), context);
    for (let at = 0; at < 10; at++) await schema.addClass(definition(`C${at}`, 1), context);
    await expect(nodes.remove("n1", context)).rejects.toThrow("1 of 'C8', 1 of 'C9': delete");
  });
});

describe("placement", () => {
  test("no class is made until all expected nodes have registered; others may change meanwhile", async () => {
    const disk = new MemoryStore();
    const before = await open(0, disk);
    await before.nodes.register(node("n1"), context);
    await before.schema.addClass(definition("Old"), context);
    const { nodes, schema } = await open(3, disk);
    await nodes.register(node("n2"), context);
    const refusal = {
      code: "unavailable",
      retryAfterSeconds: 2,
      message: expect.stringContaining("2 of 3 storage nodes have registered so far"),
    };
    await expect(schema.addClass(definition("New"), context)).rejects.toMatchObject(refusal);
    await expect(schema.ensureClass(definition("New"), context)).rejects.toMatchObject(refusal);
    const { record } = await schema.ensureClass(definition("Old"), context);
    await schema.ensureProperties("Old", record.classId, [{ name: "p", dataType: ["int"] }], context);
    await nodes.register(node("n3"), context);
    await schema.addClass(definition("New"), context);
  });

  test("goes round-robin over the registered nodes", async () => {
    const { nodes, schema } = await open(3);
    for (const name of ["a", "b", "c"]) await nodes.register(node(name), context);
    const { sharding } = await schema.addClass(definition("Car", 7), context);
    const owners = sharding.shards.flatMap(({ members }) => members);
    const first = "abc".indexOf(owners[0] ?? "");
    expect(owners).toEqual(Array.from({ length: 7 }, (_, at) => "abc"[(first + at) % 3]));
  });

  test("nodes that register change the schema's version neither when it is empty nor later", async () => {
    const { nodes, schema } = await open(1);
    const seen: SchemaSnapshot[] = [];
    schema.watch((snapshot) => seen.push(snapshot));
    await nodes.register(node("n1"), context);
    const created = await schema.addClass(definition("Car"), context);
    await nodes.register(node("n2"), context);
    await nodes.register(node("n1", "a:1"), context);
    await schema.addClass(definition("Bus"), context);
    const versions = seen.map(({ version }) => version);
    expect(versions.at(-1)).toBe(5);
    expect(versions.filter((_, at) => at > 0 && seen[at]?.classes.length === seen[at - 1]?.classes.length)).toEqual([]);
    expect(seen.at(-1)?.classes[0]).toBe(created);
  });

  test("a store from before there were nodes goes on from its revision", async () => {
    const disk = new MemoryStore();
    const store = await EmbeddedMetaStore.open(disk, () => "history");
    const record = { definition: definition("Old"), sharding: { shards: [] }, classId: "old" };
    for (let revision = 0; revision < 7; revision++) {
      await store.commit(revision, [{ key: "class/Old", value: { record, order: 1 } as never }]);
    }
    const { nodes, schema } = await open(1, disk);
    const version = async () => (await schema.current(context)).version;
    expect(await version()).toBe(7);
    await nodes.register(node("n1"), context);
    await nodes.register(node("n2"), context);
    expect(await version()).toBe(7);
    expect(await (await open(1, disk)).schema.current(context)).toEqual(await schema.current(context));
    await deleteClass(schema, "Old", context);
    expect(await version()).toBe(10);
  });
});

describe("S6: the name of a storage node", () => {
  const claimOf = (secret: string, process: string, replaces = false): NodeClaim => ({ secret, process, replaces });
  const there = (secret: string, process: string): NodePresence => ({ identity: identityOf(secret), process });
  const conflict = (message: RegExp) => ({ code: "conflict", message: expect.stringMatching(message) });

  /** Who answers at which address. */
  async function openWith(alive: Record<string, NodePresence>) {
    const opened = await open(1, new MemoryStore(), async (_, address) => alive[address]);
    let known: NodeDirectory | undefined;
    opened.nodes.watch((directory) => {
      known = directory;
    });
    return { ...opened, address: () => known?.nodes[0]?.address };
  }

  test("stays with the data folder that has it, wherever that is", async () => {
    const alive: Record<string, NodePresence> = { "a:1": there("own", "p1") };
    const { nodes, address } = await openWith(alive);
    await nodes.register(node("n1", "a:1"), context, claimOf("own", "p1"));
    await nodes.register(node("n1", "a:1"), context, claimOf("own", "p2"));
    for (const stranger of [claimOf("else", "p3"), claimOf("else", "p3", true), undefined]) {
      await expect(nodes.register(node("n1", "b:1"), context, stranger)).rejects.toMatchObject(
        conflict(/is alive at a:1/),
      );
      await expect(nodes.register(node("n1", "a:1"), context, stranger)).rejects.toMatchObject(
        conflict(/is alive at a:1/),
      );
    }
    // Another address of the same process, or of one that came after it.
    await nodes.register(node("n1", "c:1"), context, claimOf("own", "p1"));
    delete alive["a:1"];
    await nodes.register(node("n1", "d:1"), context, claimOf("own", "p4"));
    expect(address()).toBe("d:1");
  });

  test("is not given to a copy of the folder while the other is alive", async () => {
    const { nodes } = await openWith({ "a:1": there("own", "p1") });
    await nodes.register(node("n1", "a:1"), context, claimOf("own", "p1"));
    const copied = nodes.register(node("n1", "b:1"), context, claimOf("own", "p2"));
    await expect(copied).rejects.toMatchObject(conflict(/copy of its data folder/));
  });

  test("is given to another folder when whoever has it is away and the operator says that it is lost", async () => {
    const { nodes, address } = await openWith({ "b:1": there("else", "p2") });
    await nodes.register(node("n1", "a:1"), context, claimOf("own", "p1"));
    for (const stranger of [claimOf("else", "p2"), undefined]) {
      const taken = nodes.register(node("n1", "b:1"), context, stranger);
      await expect(taken).rejects.toMatchObject(conflict(/has another data folder.*CLUSTER_ACCEPT_DATA_LOSS/));
    }
    await nodes.register(node("n1", "b:1"), context, claimOf("else", "p2", true));
    expect(address()).toBe("b:1");
    await expect(nodes.register(node("n1", "a:1"), context, claimOf("own", "p1"))).rejects.toMatchObject(
      conflict(/is alive at b:1/),
    );
  });

  test("goes from whoever shows no identity to the first one that does", async () => {
    const { nodes, address } = await openWith({ "b:1": { identity: "", process: "" } });
    await nodes.register(node("n1", "b:1"), context);
    await nodes.register(node("n1", "a:1"), context, claimOf("own", "p1"));
    expect(address()).toBe("a:1");
  });
});

describe("a node that comes with an empty folder", () => {
  const claimOf = (secret: string, replaces = false): NodeClaim => ({ secret, process: `p-${secret}`, replaces });
  const nameOf = (secret: string) => copyNameOf(secret.slice(0, 2), identityOf(secret));
  const NAMES = ["n1", "n2", "n3"];

  /** Three nodes, whose folders have the secrets `n1`, `n2` and `n3`; nobody is alive. */
  async function openThree(...classes: readonly ClassDefinition[]) {
    const opened = await open(3);
    const register = (name: string, secret: string) =>
      opened.nodes.register(node(name, `${secret}:1`), context, claimOf(secret));
    for (const name of NAMES) await register(name, name);
    for (const one of classes) await opened.schema.addClass(one, context);
    const records = (await opened.schema.current(context)).classes;
    /** What becomes of the only shard of `Car`. */
    const configure = async (change: (before: ShardConfiguration) => Partial<ShardConfiguration>) => {
      const [record] = records;
      const [shard] = record?.sharding.shards ?? [];
      const key = `${record?.classId}/${shard?.name}`;
      const { configurations } = await opened.copies.current(context);
      const before = configurations.get(key) ?? initialConfiguration(shard?.copies ?? []);
      const next = { ...before, version: before.version + 1, ...change(before) };
      expect(await opened.copies.propose(PLACEMENT, [{ shard: key, next }], context)).toMatchObject([
        { isAccepted: true },
      ]);
    };
    const members = records[0]?.sharding.shards[0]?.members ?? [];
    return { ...opened, register, configure, members };
  }

  test("takes its old name where others have all that it had", async () => {
    const { register, nodes } = await openThree(definition("Car", 4, 2), definition("Bus", 3, 3));
    await register("n1", "n1-new");
    // The old one comes back while the new one is away: that loses nothing either.
    await register("n1", "n1");
    await expect(nodes.register(node("n1", "b:1"), context)).rejects.toMatchObject({ code: "conflict" });
  });

  test("is refused where something would be lost, which is named", async () => {
    const { register, schema } = await openThree(definition("Car", 1, 3), definition("One", 12, 1));
    const { classes } = await schema.current(context);
    const lost = classes[1]?.sharding.shards.filter(({ members }) => members[0] === "n2") ?? [];
    await expect(register("n2", "n2-new")).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringMatching(
        new RegExp(
          `'n2' has another data folder.*CLUSTER_ACCEPT_DATA_LOSS=true.* the data of ${lost.length} shards.*: 'One' ${lost[0]?.name}`,
        ),
      ),
    });
  });

  test("names no more of them than a person reads", async () => {
    const { register } = await openThree(definition("One", 60, 1));
    const refused = await register("n2", "n2-new").catch(({ message }: Error) => message);
    expect(refused).toMatch(/20 shards that no other node has: ('One' \w{12}, ){10}…$/);
  });

  test("is refused while no other copy is in sync, also one that only lacks what nobody acknowledged", async () => {
    const { register, configure } = await openThree(definition("Car", 1, 3));
    const [n1, n2, n3] = NAMES.map(nameOf) as [string, string, string];
    const others = { primary: n2, epoch: 2 };
    await configure(() => ({ ...others, inSync: [n2], eligible: [n1], learners: [n1, n3] }));
    await expect(register("n2", "n2-new")).rejects.toThrow("data of 1 shards");
    await configure(() => ({ inSync: [n2, n1], eligible: [], learners: [n3] }));
    await register("n2", "n2-new");
    // What the name said was there is not.
    await expect(register("n1", "n1-new")).rejects.toThrow("data of 1 shards");
    await register("n3", "n3-new");
  });

  test("counts copies that were made later in the same folder", async () => {
    const { register, configure, members } = await openThree(definition("Car", 1, 2));
    const [first, second] = members.map(nameOf) as [string, string];
    const later = `${second}.x1`;
    await configure(() => ({ inSync: [first], learners: [later] }));
    await configure(() => ({ inSync: [first, later], learners: [] }));
    const [name = ""] = members;
    await register(name, `${name}-new`);
  });

  test("is refused where the configurations were lost with the store: nobody knows who has what", async () => {
    const { schema } = await openThree(definition("Car", 3, 3));
    const known = await schema.current(context);
    const empty = await open(3);
    await empty.schema.restore({ ...known, clusterId: "cluster-1" }, context);
    const register = (secret: string) => empty.nodes.register(node("n1", `${secret}:1`), context, claimOf(secret));
    await register("n1");
    await expect(register("n1-new")).rejects.toThrow("data of 3 shards");
  });

  test("is refused without shards, as an operator has to say that this is no other node", async () => {
    const { register } = await openThree();
    await expect(register("n1", "n1-new")).rejects.toThrow(/lets another one take its name$/);
  });

  test("cannot be removed while it has a copy, wherever the class was placed", async () => {
    const { nodes, schema, configure, register, members } = await openThree(definition("Car", 1, 2));
    await nodes.register(node("n4", "n4:1"), context, claimOf("n4"));
    const [primary, second] = members as [string, string];
    const refused = (name: string) =>
      expect(nodes.remove(name, context)).rejects.toThrow(`'${name}' has shards, 1 of 'Car'`);
    for (const name of [primary, second]) await refused(name);
    await configure(({ inSync }) => ({ inSync: inSync.slice(0, 1), learners: [nameOf("n4")] }));
    await refused("n4");
    await nodes.remove(second, context);
    // A deletion waits for those that have copies.
    await register(second, second);
    const holders: (readonly string[])[] = [];
    using _ = schema.watch(({ drops = [] }) => holders.push(...drops.map((drop) => drop.holders)));
    await deleteClass(schema, "Car", context);
    expect(holders[0]).toEqual([primary, "n4"].sort());
    await nodes.remove("n4", context);
  });
});
