import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { type ClassDefinition, DEFAULT_SCHEMA_LIMITS } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import { seededRandom } from "@shoal/seeded-random";
import { createShardingState } from "@shoal/sharding";
import { expect, test } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { Ledger } from "./ledger.js";
import { NodeRegistry } from "./node-registry.js";
import { SchemaCoordinator } from "./schema-coordinator.js";

const context = { deadline: Number.POSITIVE_INFINITY };
const SEED = Number(process.env.SEED) || 6;

function definition(name: string, desiredCount: number): ClassDefinition {
  return { class: name, properties: [], shardingConfig: { desiredCount, virtualPerPhysical: 2 } } as never;
}

async function openCoordinator(nodeNames: readonly string[], bytes: (count: number) => Uint8Array) {
  const ledger = await Ledger.open(await EmbeddedMetaStore.open(new MemoryStore(), () => "history"), () => 0);
  const nodes = new NodeRegistry(ledger, 1);
  for (const name of nodeNames)
    await nodes.register({ name, address: "h:1", shoalVersion: "1", gitHash: "a" }, context);
  let ids = 0;
  return new SchemaCoordinator({
    ledger,
    expectedStorageNodes: 1,
    createSharding: ({ shardingConfig: { desiredCount, virtualPerPhysical } }, names) =>
      createShardingState({ desiredCount, virtualPerPhysical, nodeNames: names }, bytes),
    newClassId: () => `id${++ids}`,
    limits: DEFAULT_SCHEMA_LIMITS,
    shardLimit: { max: 10_000, reason: "SCHEMA_SHARDS_MAX" },
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
