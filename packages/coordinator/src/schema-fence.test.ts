import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { ClassDefinition } from "@shoal/model";
import { ShoalError } from "@shoal/model";
import { goesOnFrom, type SchemaSnapshot } from "@shoal/rpc";
import { describe, expect, test } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { Ledger } from "./ledger.js";
import { NodeRegistry } from "./node-registry.js";
import { SchemaCoordinator } from "./schema-coordinator.js";

const NODES = ["n1", "n2"];

function definition(name: string): ClassDefinition {
  return { class: name, properties: [{ name: "text", dataType: ["text"] }] } as unknown as ClassDefinition;
}

/** A coordinator on a store that outlives it, with a clock that the test moves. */
class World {
  #aheadMs = 0;
  readonly disk = new MemoryStore();
  #ids = 0;

  async start(history = "h1") {
    const store = await EmbeddedMetaStore.open(this.disk, () => "store-1");
    const ledger = await Ledger.open(store, () => this.nowMs);
    const schema = new SchemaCoordinator({
      ledger,
      expectedStorageNodes: 0,
      createSharding: () => ({
        shards: NODES.map((name, at) => ({ name: `s${at}`, members: [name] })),
        virtualShards: ["v"],
        assignments: [0],
      }),
      newClassId: () => `id${++this.#ids}`,
      limits: { classesMax: 25, propertiesPerClassMax: 12 },
      shardLimit: { max: 100, reason: "SCHEMA_SHARDS_MAX" },
      responseMsMax: 20,
    });
    await schema.begin(history, this.context());
    return { schema, nodes: new NodeRegistry(ledger, 0) };
  }

  get nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  advance(ms: number): void {
    this.#aheadMs += ms;
  }

  context(changeId?: string, waitMs = 30_000) {
    return { deadline: this.nowMs + waitMs, ...(changeId !== undefined && { changeId }) };
  }
}

const later = (world: World) => {
  world.advance(60_000);
};

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "done",
    (thrown) => ShoalError.from(thrown).code,
  );
}

describe("F1: the deletion of a class", () => {
  test("is answered when every node with a shard has confirmed, and names those that have not", async () => {
    const world = new World();
    const { schema, nodes } = await world.start();
    const { classId } = await schema.addClass(definition("Car"), world.context());
    const car = { className: "Car", classId };
    await schema.deleteClass(car, world.context("d1")).catch(() => undefined);
    await nodes.confirmDropped("n2", [classId], world.context());
    await expect(schema.deleteClass(car, world.context("d1"))).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/node 'n1' has/),
    });
    const snapshot = await schema.current(world.context());
    expect(snapshot.classes).toEqual([]);
    expect(snapshot.drops?.[0]).toMatchObject({ classId, className: "Car" });
  });

  test("keeps the name until then, also after a restart of the coordinator", async () => {
    const world = new World();
    const first = await world.start();
    const { classId } = await first.schema.addClass(definition("Car"), world.context());
    expect(await codeOf(first.schema.deleteClass({ className: "Car", classId }, world.context("d1")))).toBe(
      "unavailable",
    );
    const { schema, nodes } = await world.start("h2");
    for (const make of ["addClass", "ensureClass"] as const) {
      await expect(schema[make](definition("Car"), world.context("c1"))).rejects.toMatchObject({
        code: "unavailable",
        message: expect.stringMatching(/'n1', 'n2' have not confirmed/),
      });
    }
    for (const name of NODES) await nodes.confirmDropped(name, [classId], world.context());
    const made = await schema.addClass(definition("Car"), world.context("c2"));
    expect(made.classId).not.toBe(classId);
  });

  test("that was answered with an error is answered as the success that it is when it is repeated", async () => {
    const world = new World();
    const { schema, nodes } = await world.start();
    const { classId } = await schema.addClass(definition("Car"), world.context());
    expect(await codeOf(schema.deleteClass({ className: "Car", classId }, world.context("d1")))).toBe("unavailable");
    for (const name of NODES) await nodes.confirmDropped(name, [classId], world.context());
    // The one that was answered is not waited for.
    const unknown = { className: "Car", classId: undefined };
    expect(await codeOf(schema.deleteClass(unknown, world.context("d2")))).toBe("done");
    await schema.settle("d2", world.context());
    expect(await codeOf(schema.deleteClass(unknown, world.context("d3")))).toBe("notFound");
  });

  test("that comes late does not meet the class that was made since", async () => {
    const world = new World();
    const { schema, nodes } = await world.start();
    const { classId } = await schema.addClass(definition("Car"), world.context());
    expect(await codeOf(schema.deleteClass({ className: "Car", classId }, world.context("d1")))).toBe("unavailable");
    for (const name of NODES) await nodes.confirmDropped(name, [classId], world.context());
    await schema.settle("d1", world.context());
    await schema.addClass(definition("Car"), world.context());
    expect(await codeOf(schema.deleteClass({ className: "Car", classId }, world.context("d2")))).toBe("conflict");
    expect(await codeOf(schema.deleteClass({ className: "Car", classId: undefined }, world.context("d3")))).toBe(
      "conflict",
    );
    expect((await schema.current(world.context())).classes).toHaveLength(1);
  });

  test("is not undone by a creation that comes late", async () => {
    const world = new World();
    const { schema, nodes } = await world.start();
    const { version } = await schema.current(world.context());
    const { classId } = await schema.addClass(definition("Car"), world.context(), { plannedVersion: version });
    expect(await codeOf(schema.deleteClass({ className: "Car", classId }, world.context("d1")))).toBe("unavailable");
    for (const name of NODES) await nodes.confirmDropped(name, [classId], world.context());
    await schema.settle("d1", world.context());
    expect(await codeOf(schema.addClass(definition("Car"), world.context(), { plannedVersion: version }))).toBe(
      "conflict",
    );
    const after = await schema.current(world.context());
    expect(await codeOf(schema.addClass(definition("Car"), world.context(), { plannedVersion: after.version }))).toBe(
      "done",
    );
  });

  test("F14: is not undone by auto-schema that comes late, nor is a class made since extended by it", async () => {
    const world = new World();
    const { schema, nodes } = await world.start();
    const { version } = await schema.current(world.context());
    const planned = { plannedVersion: version };
    const late = { ...definition("Car"), properties: [{ name: "late", dataType: ["text"] }] };
    const { record } = await schema.ensureClass(definition("Car"), world.context(), planned);
    const { classId } = record;
    expect(await codeOf(schema.ensureClass(late, world.context(), planned))).toBe("done");
    expect(await codeOf(schema.deleteClass({ className: "Car", classId }, world.context("d1")))).toBe("unavailable");
    for (const name of NODES) await nodes.confirmDropped(name, [classId], world.context());
    await schema.settle("d1", world.context());
    expect(await codeOf(schema.ensureClass(late, world.context(), planned))).toBe("conflict");
    expect((await schema.current(world.context())).classes).toEqual([]);
    await schema.addClass(definition("Car"), world.context());
    expect(await codeOf(schema.ensureClass(late, world.context(), planned))).toBe("conflict");
    const after = await schema.current(world.context());
    expect(after.classes.map((record) => record.definition)).toEqual([definition("Car")]);
    expect(await codeOf(schema.ensureClass(late, world.context(), { plannedVersion: after.version }))).toBe("done");
  });

  test("does not wait for a node that an operator has removed", async () => {
    const world = new World();
    const { schema, nodes } = await world.start();
    const node = { address: "h:1", shoalVersion: "1", gitHash: "" };
    for (const name of NODES) await nodes.register({ name, ...node }, world.context());
    const { classId } = await schema.addClass(definition("Car"), world.context());
    const car = { className: "Car", classId };
    expect(await codeOf(schema.deleteClass(car, world.context("d1")))).toBe("unavailable");
    await nodes.confirmDropped("n1", [classId], world.context());
    await nodes.remove("n2", world.context());
    expect(await codeOf(schema.deleteClass(car, world.context("d2")))).toBe("done");
  });
});

describe("a change whose answer was lost", () => {
  test("is found by the caller's repetition under its id", async () => {
    const world = new World();
    const { schema } = await world.start();
    const made = await schema.addClass(definition("Car"), world.context("c1"));
    expect(await schema.addClass(definition("Car"), world.context("c1"))).toEqual(made);
    const property = { name: "seats", dataType: ["int"] };
    await schema.addProperty("Car", property, world.context("p1"));
    const again = await schema.addProperty("Car", property, world.context("p1"));
    expect(again.definition.properties).toHaveLength(2);
  });

  test("is found by a repetition under another id when its caller waits no longer, and only then", async () => {
    const world = new World();
    const { schema } = await world.start();
    const { classId } = await schema.addClass(definition("Car"), world.context("c1", 30_000));
    expect(await codeOf(schema.addClass(definition("Car"), world.context("c2")))).toBe("unavailable");
    later(world);
    const other = { ...definition("Car"), description: "another one" };
    expect(await codeOf(schema.addClass(other, world.context("c3")))).toBe("invalid");
    expect((await schema.addClass(definition("Car"), world.context("c4"))).classId).toBe(classId);
    await schema.settle("c4", world.context());
    expect(await codeOf(schema.addClass(definition("Car"), world.context("c5")))).toBe("invalid");
  });

  test("is forgotten after an hour", async () => {
    const world = new World();
    const { schema } = await world.start();
    await schema.addClass(definition("Car"), world.context("c1"));
    world.advance(3_700_000);
    await schema.settle("other", world.context());
    expect(await codeOf(schema.addClass(definition("Car"), world.context("c2")))).toBe("invalid");
  });
});

describe("F4: the schema of a lost store", () => {
  test("is brought back into an empty one, which goes on from it as the same cluster", async () => {
    const lost = new World();
    const before = await lost.start("before");
    const { classId } = await before.schema.addClass(definition("Car"), lost.context());
    await before.schema.addClass(definition("Bus"), lost.context());
    expect(await codeOf(before.schema.deleteClass({ className: "Car", classId }, lost.context("d1")))).toBe(
      "unavailable",
    );
    const known: SchemaSnapshot = JSON.parse(JSON.stringify(await before.schema.current(lost.context())));

    const world = new World();
    const { schema, nodes } = await world.start("after");
    await schema.restore({ ...known, clusterId: "cluster-1" }, world.context());
    const restored = await schema.current(world.context());
    expect(restored.classes).toEqual(known.classes);
    expect(restored.drops).toEqual(known.drops);
    expect(restored.clusterId).toBe("cluster-1");
    expect(schema.clusterId).toBe("cluster-1");
    expect(goesOnFrom(restored, known)).toBe(true);
    expect(restored.version).toBeGreaterThan(known.version);
    expect(await codeOf(schema.restore(known, world.context()))).toBe("conflict");

    await nodes.confirmDropped("n1", [classId], world.context());
    // One that never comes back has not registered with this store; it has shards of the other class.
    expect(await codeOf(nodes.remove("n2", world.context()))).toBe("conflict");
    const bus = restored.classes[0]?.classId;
    expect(await codeOf(schema.deleteClass({ className: "Bus", classId: bus }, world.context("d2")))).toBe(
      "unavailable",
    );
    await nodes.remove("n2", world.context());
    expect(await codeOf(nodes.remove("n2", world.context()))).toBe("notFound");
    await schema.addClass(definition("Car"), world.context());
    const { schema: again } = await world.start("again");
    const next = await again.current(world.context());
    expect(goesOnFrom(next, restored)).toBe(true);
    expect(next.clusterId).toBe("cluster-1");
    expect(next.version).toBeGreaterThan(restored.version);
  });

  test("is not taken without the id of its cluster", async () => {
    const world = new World();
    const { schema } = await world.start();
    const snapshot = { historyId: "h", version: 3, classes: [] };
    expect(await codeOf(schema.restore(snapshot, world.context()))).toBe("invalid");
  });
});
