import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { type ClassDefinition, DEFAULT_SCHEMA_LIMITS } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import { seededRandom } from "@shoal/seeded-random";
import { createShardingState } from "@shoal/sharding";
import { expect, test } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { Ledger } from "./ledger.js";
import { identityOf, NodeRegistry } from "./node-registry.js";
import { SchemaCoordinator, type SchemaCoordinatorOptions } from "./schema-coordinator.js";

const context = { deadline: Number.POSITIVE_INFINITY };
const SEED = Number(process.env.SEED) || 6;

function definition(name: string, desiredCount: number): ClassDefinition {
  return { class: name, properties: [], shardingConfig: { desiredCount, virtualPerPhysical: 2 } } as never;
}

async function openCoordinator(
  nodeNames: readonly string[],
  bytes: (count: number) => Uint8Array,
  options: Partial<SchemaCoordinatorOptions> = {},
) {
  const ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "history"), () => 0);
  const nodes = new NodeRegistry(ledger, 1);
  for (const name of nodeNames) {
    const claim = { secret: name, process: "p", replaces: false };
    // Those of an older version have none.
    const claims = name.startsWith("old") ? [] : [claim];
    await nodes.register({ name, address: "h:1", shoalVersion: "1", gitHash: "a" }, context, ...claims);
  }
  let ids = 0;
  return new SchemaCoordinator({
    ledger,
    expectedStorageNodes: 1,
    createSharding: ({ shardingConfig: { desiredCount, virtualPerPhysical }, replicationConfig }, nodeNames) =>
      createShardingState({ desiredCount, virtualPerPhysical, nodeNames, factor: replicationConfig?.factor }, bytes),
    newClassId: () => `id${++ids}`,
    limits: DEFAULT_SCHEMA_LIMITS,
    shardLimit: { max: 10_000, reason: "SCHEMA_SHARDS_MAX" },
    ...options,
  });
}

/** How many shards each node has. */
function shardsByNode({ sharding }: ClassRecord): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [owner = ""] of sharding.shards.map(({ members }) => members)) {
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  return counts;
}

test(`F6: new classes are spread over the nodes that the caller reaches, over all when it reaches none (seed ${SEED})`, async () => {
  const { below, bytes } = seededRandom(SEED);
  for (let round = 0; round < 60; round++) {
    const names = Array.from({ length: 1 + below(5) }, (_, at) => `n${at}`);
    const schema = await openCoordinator(names, bytes);
    // Some of those that are lost have never registered.
    const lost = [...names, "x0", "x1"].filter(() => below(3) === 0);
    const alive = names.filter((name) => !lost.includes(name));
    const places = alive.length === 0 ? names : alive;
    const count = 1 + below(8);
    const made = [
      await schema.addClass(definition("Added", count), context, { lostNodes: lost }),
      (await schema.ensureClass(definition("Ensured", count), context, { lostNodes: lost })).record,
    ];
    for (const record of made) {
      const counts = shardsByNode(record);
      expect(record.sharding.shards).toHaveLength(count);
      expect(places).toEqual(expect.arrayContaining([...counts.keys()]));
      const each = places.map((name) => counts.get(name) ?? 0);
      expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
    }
    // A class that there is stays where it is.
    const [, ensured] = made;
    const { record: again } = await schema.ensureClass(definition("Ensured", count), context, {
      lostNodes: names.slice(1),
    });
    expect(again.sharding).toEqual(ensured?.sharding);
  }
});

test("F6: nothing is left out when nobody says so", async () => {
  const schema = await openCoordinator(["n0", "n1", "n2"], seededRandom(SEED).bytes);
  const record = await schema.addClass(definition("Car", 3), context);
  expect([...shardsByNode(record).keys()].sort()).toEqual(["n0", "n1", "n2"]);
});

/** A class of that factor; without one it does not say. */
function copied(name: string, factor?: number): ClassDefinition {
  return { ...definition(name, 6), ...(factor !== undefined && { replicationConfig: { factor } }) };
}

test("the copies of a shard are on as many nodes as the class says, and named by their folders", async () => {
  const schema = await openCoordinator(["n0", "n1", "n2", "n3"], seededRandom(SEED).bytes);
  const { definition: made, sharding } = await schema.addClass(copied("Car", 3), context);
  expect(made.replicationConfig).toEqual({ factor: 3 });
  for (const { members, copies } of sharding.shards) {
    expect(new Set(members).size).toBe(3);
    expect(copies).toEqual(members.map((name) => `${name}/${identityOf(name).slice(0, 12)}`));
  }
  for (const single of [copied("One", 1), copied("Default")]) {
    const record = await schema.addClass(single, context);
    expect(record.definition).toBe(single);
    for (const shard of record.sharding.shards) expect(shard).not.toHaveProperty("copies");
  }
});

test("REPLICATION_FACTOR is that of classes that do not say, and they show it", async () => {
  const schema = await openCoordinator(["n0", "n1"], seededRandom(SEED).bytes, { defaultFactor: 2 });
  const made = await schema.addClass(copied("Car"), context);
  expect(made.definition.replicationConfig).toEqual({ factor: 2 });
  expect(made.sharding.shards.map(({ copies }) => copies?.length)).toEqual(Array(6).fill(2));
  expect((await schema.ensureClass(copied("Bus"), context)).record.definition.replicationConfig).toEqual({ factor: 2 });
  expect((await schema.addClass(copied("One", 1), context)).definition.replicationConfig).toEqual({ factor: 1 });
  // Whose response was lost, and who asks again.
  const change = { ...context, changeId: "once" };
  const first = await schema.addClass(copied("Again"), change);
  expect(await schema.addClass(copied("Again"), change)).toBe(first);
});

test("a factor above the number of nodes is refused, with any number of them lost", async () => {
  const schema = await openCoordinator(["n0", "n1"], seededRandom(SEED).bytes);
  await expect(schema.addClass(copied("Car", 3), context)).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("class 'Car': replicationConfig.factor is 3, but there are 2 storage nodes"),
  });
  const { sharding } = await schema.addClass(copied("Car", 2), context, { lostNodes: ["n1"] });
  for (const { members } of sharding.shards) expect([...members].sort()).toEqual(["n0", "n1"]);
  const alone = await openCoordinator(["n0"], seededRandom(SEED).bytes);
  await expect(alone.ensureClass(copied("Car", 2), context)).rejects.toThrow("is 2, but there is 1 storage node");
});

test("a node of a version without an identity cannot hold copies", async () => {
  const schema = await openCoordinator(["n0", "old1"], seededRandom(SEED).bytes);
  await expect(schema.addClass(copied("Car", 2), context)).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("storage node 'old1' runs a version that cannot hold copies"),
  });
  await schema.addClass(copied("Car", 1), context);
});
