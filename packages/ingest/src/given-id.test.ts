import type { ObjectId } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { input, MISSING_VECTOR, plantNote, refusal, type Setup, setUp } from "./ingest-setup.fixture.js";

const id = "8e2997f2-1972-4ee2-ad35-5fc704f2893e" as ObjectId;

describe("uniqueness of a given id", () => {
  it.each(["Car", "Bus", "Note"])("refuses an id that class %s has, with the id as typed", async (holder) => {
    const { cluster, ingest, context } = setUp({ nodes: 3, shards: 2 });
    const record = cluster.classRecord(holder);
    if (record === undefined) throw new Error();
    cluster.plant(record, id);
    const typed = id.toUpperCase();
    const taken = `invalid: id '${typed}' already exists`;
    expect(await refusal(ingest.createObject(input("Car", { id: typed }), context))).toBe(taken);
    cluster.publishDimensions();
    await ingest.createObject(input("Car"), context);
    cluster.publishDimensions();
    expect(await refusal(ingest.createObject(input("Car", { id: typed }), context))).toBe(taken);
  });

  it("says so before it speaks of other faults", async () => {
    const { cluster, ingest, context } = setUp();
    const bus = cluster.classRecord("Bus");
    if (bus === undefined) throw new Error();
    cluster.plant(bus, id);
    for (const body of [input("Nope", { id }), input("Car", { id, properties: 1 }), input("Car", { id, vector: [] })]) {
      expect(await refusal(ingest.createObject(body, context))).toBe(`invalid: id '${id}' already exists`);
    }
  });

  it("asks each node once for all classes", async () => {
    const { cluster, ingest, context } = setUp({ nodes: 3, shards: 6 });
    for (let i = 0; i < 20; i++) cluster.addClass({ class: `Class${i}` });
    await ingest.createObject(input("Car"), context);
    cluster.publishDimensions();
    cluster.calls.length = 0;
    await ingest.createObject(input("Car", { id }), context);
    const asked = cluster.calls.filter((call) => call.includes(" find "));
    expect(asked.sort()).toEqual(["node0 find 1", "node1 find 1", "node2 find 1"]);
  });

  it("asks nobody but the own shard when there is one class", async () => {
    const { cluster, ingest, context } = setUp();
    cluster.snapshot = {
      historyId: "h",
      version: 99,
      classes: cluster.snapshot.classes.filter((c) => c.definition.class === "Car"),
    };
    await ingest.createObject(input("Car"), context);
    cluster.publishDimensions();
    cluster.calls.length = 0;
    await ingest.createObject(input("Car", { id }), context);
    expect(cluster.calls).toEqual(["node0 put Car create 1"]);
    expect(await refusal(ingest.createObject(input("Car", { id }), context))).toBe(
      `invalid: id '${id}' already exists`,
    );
  });

  /** Two ids whose shards of class Car are on node0, and whose shards of the others are on node1. */
  function splitIds({ cluster }: Setup): readonly [ObjectId, ObjectId] {
    const nodeOf = (name: string, of: ObjectId) => {
      const record = cluster.classRecord(name);
      return record === undefined ? undefined : cluster.nodeNameOf(cluster.shardOf(record, of));
    };
    const [first, second] = Array.from({ length: 300 }, (_, i) => i.toString(16).padStart(8, "0"))
      .map((head) => id.replace(/^.{8}/, head) as ObjectId)
      .filter((of) => ["Car", "Bus", "Note"].map((name) => nodeOf(name, of)).join() === "node0,node1,node1");
    if (first === undefined || second === undefined) throw new Error("no ids of that kind");
    return [first, second];
  }

  it.each([
    ["before the class has a vector length", false],
    ["with a vector length", true],
  ])("F6: is accepted while the node of another class is away, %s", async (_, isFixed) => {
    const setup = setUp({ nodes: 2, shards: 2 });
    const { cluster, ingest, context } = setup;
    const [split, other] = splitIds(setup);
    if (isFixed) {
      await ingest.createObject(input("Car"), context);
      cluster.publishDimensions();
    }
    cluster.downNodes.add("node1");
    expect(await refusal(ingest.createObject(input("Car", { id: split }), context))).toBe("accepted");
    expect(await refusal(ingest.createObject(input("Car", { id: split }), context))).toBe(
      `invalid: id '${split}' already exists`,
    );
    // What is wrong with an object is reported as it is.
    expect(await refusal(ingest.createObject(input("Car", { id: other, vector: [] }), context))).toBe(
      `invalid: ${MISSING_VECTOR}`,
    );
  });

  it("F6: is accepted while a shard of another class cannot be asked", async () => {
    const { cluster, ingest, context } = setUp({ nodes: 2, shards: 2 });
    cluster.downShards.add("Bus").add("Note");
    expect(await refusal(ingest.createObject(input("Car", { id }), context))).toBe("accepted");
  });

  it("F6: is refused while another class has it, whoever else is away", async () => {
    const setup = setUp({ nodes: 3, shards: 3 });
    const { cluster, ingest, context } = setup;
    const bus = cluster.classRecord("Bus");
    if (bus === undefined) throw new Error();
    cluster.plant(bus, id);
    const holder = cluster.nodeNameOf(cluster.shardOf(bus, id));
    for (const name of cluster.nodeNames) if (name !== holder) cluster.downNodes.add(name);
    for (const body of [input("Car", { id }), input("Car", { id, vector: [] }), input("Nope", { id })]) {
      expect(await refusal(ingest.createObject(body, context))).toBe(`invalid: id '${id}' already exists`);
    }
  });

  it("F6: cannot be accepted while its own shard is away, and fixes no vector length then", async () => {
    const setup = setUp({ nodes: 2, shards: 2 });
    const { cluster, ingest, context } = setup;
    const [split] = splitIds(setup);
    const car = cluster.classRecord("Car");
    if (car === undefined) throw new Error();
    cluster.downNodes.add("node0");
    expect(await refusal(ingest.createObject(input("Car", { id: split }), context))).toBe(
      `unavailable: shard ${cluster.shardOf(car, split).shardName} of class 'Car': node 'node0' is down`,
    );
    expect(cluster.fixCalls).toBe(0);
  });

  it("F6: asks on while what an object refers to may be on a node that is away", async () => {
    const setup = setUp({ nodes: 2, shards: 2 });
    const { cluster, ingest, context } = setup;
    const [own, target] = splitIds(setup);
    const properties = { notes: [{ beacon: `svc://localhost/${target}` }] };
    plantNote(cluster, target);
    cluster.downNodes.add("node1");
    const asked = refusal(ingest.createObject(input("Car", { id: own, properties }), context));
    expect(await asked).toMatch(
      /^unavailable: invalid object: .*shard \w+ of class '(Bus|Note)'.*node 'node1' is down$/,
    );
  });
});
