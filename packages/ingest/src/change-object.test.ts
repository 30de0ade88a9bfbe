import type { ObjectId } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { input, MISSING_VECTOR, plantNote, refusal, type Setup, setUp } from "./ingest-setup.fixture.js";

const id = "8e2997f2-1972-4ee2-ad35-5fc704f2893e" as ObjectId;
const other = "11111111-1111-1111-1111-111111111111" as ObjectId;
const target = "22222222-2222-2222-2222-222222222222" as ObjectId;

async function withCar(options: Parameters<typeof setUp>[0] = {}): Promise<Setup> {
  const setup = setUp(options);
  plantNote(setup.cluster, target);
  const properties = { name: "a", wheels: 4, notes: [{ beacon: `svc://localhost/${target}` }] };
  await setup.ingest.createObject(input("Car", { id, properties }), setup.context);
  setup.cluster.publishDimensions();
  setup.cluster.calls.length = 0;
  setup.cluster.now = 2_000;
  return setup;
}

describe("replaceObject", () => {
  it("replaces everything but the creation time, in one request", async () => {
    const { cluster, ingest, context } = await withCar();
    const written = await ingest.replaceObject(
      id,
      input("Car", { properties: { wheels: 3 }, vector: [3, 4] }),
      context,
    );
    expect(written).toMatchObject({ creationTimeUnix: 1_000, lastUpdateTimeUnix: 2_000 });
    expect(cluster.row("Car", id)?.object).toEqual({
      id,
      className: "Car",
      properties: { wheels: 3 },
      vector: Float32Array.of(3, 4),
      extras: undefined,
    });
    expect(cluster.calls).toEqual(["node0 put Car replace 1"]);
  });

  it.each([undefined, "", id, id.toUpperCase(), id.replaceAll("-", "")])("takes the body id %j", async (bodyId) => {
    const { ingest, context } = await withCar();
    expect(await refusal(ingest.replaceObject(id, input("Car", { id: bodyId }), context))).toBe("accepted");
  });

  it.each<[ObjectId, Parameters<typeof input>, string]>([
    [id, ["Car", { id: "x" }], `invalid: member 'id' must be a UUID, got "x"`],
    [id, ["Car", { id: other }], "invalid: invalid update: field 'id' is immutable"],
    [other, ["Car"], `notFound: no object with id '${other}'`],
    [other, ["Car", { vector: [] }], `notFound: no object with id '${other}'`],
    [other, ["Nope"], `notFound: no object with id '${other}'`],
    [
      other.toUpperCase() as ObjectId,
      ["Car", { properties: 1 }],
      `notFound: no object with id '${other.toUpperCase()}'`,
    ],
    [id, ["Bus"], "invalid: invalid update: class is immutable, but got 'Bus' for previous class 'Car'"],
    [id, ["Nope"], "invalid: invalid update: class is immutable, but got 'Nope' for previous class 'Car'"],
    [
      id,
      ["Bus", { properties: { nope: 1 } }],
      "invalid: invalid update: class is immutable, but got 'Bus' for previous class 'Car'",
    ],
    [id, [undefined], "invalid: invalid object: the object names no class: give it in the member 'class'"],
    [
      id,
      ["Car", { properties: { name: null } }],
      "invalid: invalid object: invalid text property 'name' on class 'Car': not a string, but null",
    ],
    [id, ["Car", { vector: undefined }], `invalid: ${MISSING_VECTOR}`],
    [
      id,
      ["Car", { vector: [1, 2, 3] }],
      "invalid: class 'Car' has vectors of 2 dimensions, got one of 3 (vector lengths don't match: 3 vs 2): use a vector of the same model, or a class of its own",
    ],
  ])("path %s, body %j: %s", async (path, body, result) => {
    const { cluster, ingest, context } = await withCar({ nodes: 2, shards: 3 });
    const before = cluster.row("Car", id);
    expect(await refusal(ingest.replaceObject(path, input(...body), context))).toBe(result);
    expect(cluster.row("Car", id)).toBe(before);
    expect(cluster.row("Bus", id)).toBeUndefined();
    expect(cluster.row("Car", other)).toBeUndefined();
  });

  it("acts on the class that the client names when several have the id", async () => {
    const { cluster, ingest, context } = await withCar();
    const bus = cluster.classRecord("Bus");
    if (bus === undefined) throw new Error();
    cluster.plant(bus, id);
    await ingest.replaceObject(id, input("Car", { properties: { wheels: 9 } }), context);
    expect(cluster.row("Car", id)?.object.properties).toEqual({ wheels: 9 });
    expect(cluster.row("Bus", id)?.object.properties).toEqual({});
    expect(await refusal(ingest.replaceObject(id, input("Car", { vector: [] }), context))).toBe(
      `invalid: ${MISSING_VECTOR}`,
    );
  });

  it("does not let an object that is not there fix the dimensions of its class", async () => {
    const { cluster, ingest, context } = setUp();
    expect(await refusal(ingest.replaceObject(id, input("Car"), context))).toBe(`notFound: no object with id '${id}'`);
    expect(await refusal(ingest.mergeObject(id, input("Car"), context))).toBe(
      `invalid: invalid merge: object with id '${id}' does not exist`,
    );
    expect(cluster.fixCalls).toBe(0);
  });

  it("F6: an id that its own shard does not have is unknown, whoever else is away", async () => {
    const { cluster, ingest, context } = await withCar({ nodes: 3, shards: 3 });
    const car = cluster.classRecord("Car");
    if (car === undefined) throw new Error();
    const own = cluster.nodeNameOf(cluster.shardOf(car, other));
    for (const name of cluster.nodeNames) if (name !== own) cluster.downNodes.add(name);
    const unknown = `no object with id '${other}'`;
    expect(await refusal(ingest.replaceObject(other, input("Car"), context))).toBe(`notFound: ${unknown}`);
    expect(await refusal(ingest.mergeObject(other, input("Car"), context))).toBe(
      `invalid: invalid merge: object with id '${other}' does not exist`,
    );
    // Of a class that is not known any shard may be the one.
    expect(await refusal(ingest.replaceObject(other, input("Nope"), context))).toBe(
      "invalid: invalid object: could not find class 'Nope' in the schema: did you mean 'Note'?",
    );
  });

  it("F6: an unknown id fixes no vector length, and is told, while another class's node is away", async () => {
    const { cluster, ingest, context } = setUp({ nodes: 3, shards: 3 });
    const car = cluster.classRecord("Car");
    if (car === undefined) throw new Error();
    const own = cluster.nodeNameOf(cluster.shardOf(car, other));
    for (const name of cluster.nodeNames) if (name !== own) cluster.downNodes.add(name);
    expect(await refusal(ingest.replaceObject(other, input("Car"), context))).toBe(
      `notFound: no object with id '${other}'`,
    );
    cluster.downNodes.add(own);
    expect(await refusal(ingest.replaceObject(other, input("Car"), context))).toBe(
      `unavailable: shard ${cluster.shardOf(car, other).shardName} of class 'Car': node '${own}' is down`,
    );
    expect(cluster.fixCalls).toBe(0);
  });

  it("tells a refused body also when nobody can say whether the object exists", async () => {
    const { cluster, ingest, context } = await withCar();
    cluster.downNodes.add("node0");
    expect(await refusal(ingest.replaceObject(id, input("Car", { vector: [] }), context))).toBe(
      `invalid: ${MISSING_VECTOR}`,
    );
    expect(await refusal(ingest.replaceObject(id, input("Car"), context))).toBe("unavailable: node 'node0' is down");
    expect(await refusal(ingest.mergeObject(id, input("Car"), context))).toBe("unavailable: node 'node0' is down");
  });
});

describe("mergeObject", () => {
  it("replaces what is given, clears nulls, keeps the rest, in one request", async () => {
    const { cluster, ingest, context } = await withCar();
    const body = input("Car", { id: target, properties: { wheels: 3, name: null }, vector: undefined });
    await ingest.mergeObject(id, body, context);
    expect(cluster.row("Car", id)).toEqual({
      object: {
        id,
        className: "Car",
        properties: { wheels: 3, notes: [{ beacon: `svc://localhost/${target}` }] },
        vector: Float32Array.of(1, 2),
        extras: undefined,
      },
      times: { creationTimeUnix: 1_000, lastUpdateTimeUnix: 2_000 },
    });
    expect(cluster.calls).toEqual(["node0 merge Car"]);
    const misshapen = input("Car", { id: "zz", properties: { wheels: 9 } });
    const refused = refusal(ingest.mergeObject(id, misshapen, context));
    expect(await refused).toBe(`invalid: member 'id' must be a UUID, got "zz"`);
  });

  it("replaces the vector when one is sent", async () => {
    const { cluster, ingest, context } = await withCar();
    await ingest.mergeObject(id, input("Car", { vector: [5, 6] }), context);
    expect(cluster.row("Car", id)?.object.vector).toEqual(Float32Array.of(5, 6));
  });

  it.each([null, [], new Float32Array(0)])("keeps the vector when %j is sent", async (vector) => {
    const { cluster, ingest, context } = await withCar();
    await ingest.mergeObject(id, input("Car", { properties: { wheels: 8 }, vector }), context);
    expect(cluster.row("Car", id)?.object).toMatchObject({ properties: { wheels: 8 }, vector: Float32Array.of(1, 2) });
  });

  it("keeps the vector of a class without index when an empty one is sent", async () => {
    const { cluster, ingest, context } = setUp();
    await ingest.createObject(input("Note", { id, properties: {}, vector: [1, 2, 3] }), context);
    await ingest.mergeObject(id, input("Note", { properties: {}, vector: [] }), context);
    expect(cluster.row("Note", id)?.object.vector).toEqual(Float32Array.of(1, 2, 3));
    await ingest.createObject(input("Note", { id: other, properties: {}, vector: [] }), context);
    await ingest.mergeObject(other, input("Note", { properties: {}, vector: [] }), context);
    expect(cluster.row("Note", other)?.object.vector).toBeUndefined();
  });

  it.each([
    ["spec", [id]],
    ["weaviate", [target, id]],
  ] as const)("under profile %s a reference list becomes %j", async (profile, expected) => {
    const { cluster, ingest, context } = await withCar({ profile });
    const properties = { notes: [{ beacon: `x://localhost/${id}` }], wheels: 1 };
    await ingest.mergeObject(id, input("Car", { properties, vector: undefined }), context);
    const notes = cluster.row("Car", id)?.object.properties?.notes as { beacon: string }[];
    expect(notes.map(({ beacon }) => beacon.split("/").at(-1))).toEqual(expected);
    expect(notes.at(-1)?.beacon.split(":")[0]).toBe(profile === "spec" ? "svc" : "weaviate");
    await ingest.mergeObject(id, input("Car", { properties: { notes: null }, vector: undefined }), context);
    expect(cluster.row("Car", id)?.object.properties).not.toHaveProperty("notes");
  });

  it.each<[ObjectId, Parameters<typeof input>, string]>([
    [id, [undefined], "invalid merge: class is a required (and immutable) field"],
    [id, [""], "invalid merge: class is a required (and immutable) field"],
    [id, ["Bus"], "invalid merge: class is immutable, but got 'Bus' for previous class 'Car'"],
    [id, ["Nope"], "invalid merge: class is immutable, but got 'Nope' for previous class 'Car'"],
    [other, ["Car"], `invalid merge: object with id '${other}' does not exist`],
    [other, ["Nope"], `invalid merge: object with id '${other}' does not exist`],
    [other, ["Car", { properties: 1 }], `invalid merge: object with id '${other}' does not exist`],
    [
      id,
      ["Car", { properties: { wheels: 1.5 } }],
      "invalid merge: invalid integer property 'wheels' on class 'Car': requires an integer of at most 64 bits, without fraction or exponent, but got the number 1.5",
    ],
    [
      id,
      ["Car", { properties: { nope: null } }],
      "invalid merge: no such prop with name 'nope' found in class 'Car' in the schema: it has name, wheels, notes",
    ],
    [
      id,
      ["Car", { vector: [1] }],
      "invalid merge: class 'Car' has vectors of 2 dimensions, got one of 1 (vector lengths don't match: 1 vs 2): use a vector of the same model, or a class of its own",
    ],
    [
      id,
      ["Car", { vectorWeights: "x" }],
      'invalid merge: vector weights: must be an object whose values are strings, got the string "x"',
    ],
  ])("path %s, body %j: %s", async (path, body, message) => {
    const { cluster, ingest, context } = await withCar({ nodes: 2, shards: 3 });
    const before = cluster.row("Car", id);
    expect(await refusal(ingest.mergeObject(path, input(...body), context))).toBe(`invalid: ${message}`);
    expect(cluster.row("Car", id)).toBe(before);
  });
});

describe("deleteObject", () => {
  it("deletes from the first class by name that has the id", async () => {
    const { cluster, ingest, context } = await withCar({ nodes: 2, shards: 3 });
    const bus = cluster.classRecord("Bus");
    if (bus === undefined) throw new Error();
    cluster.plant(bus, id);
    expect(await ingest.deleteObject(id, context)).toBe(true);
    expect([cluster.row("Bus", id), cluster.row("Car", id)?.object.id]).toEqual([undefined, id]);
    expect(await ingest.deleteObject(id, context)).toBe(true);
    expect(await ingest.deleteObject(id, context)).toBe(false);
  });

  it("asks nobody first when there is one class only", async () => {
    const { cluster, ingest, context } = await withCar();
    cluster.snapshot = {
      historyId: "h",
      version: 99,
      classes: cluster.snapshot.classes.filter((c) => c.definition.class === "Car"),
    };
    expect(await ingest.deleteObject(id, context)).toBe(true);
    expect(cluster.calls).toEqual(["node0 delete Car"]);
  });

  it("finds nothing in an empty schema", async () => {
    const { cluster, ingest, context } = setUp();
    cluster.snapshot = { historyId: "h", version: 99, classes: [] };
    expect(await ingest.deleteObject(id, context)).toBe(false);
  });

  it("works while an unrelated node is down, and does not claim absence then", async () => {
    const { cluster, ingest, context } = await withCar({ nodes: 3, shards: 3 });
    const car = cluster.classRecord("Car");
    if (car === undefined) throw new Error();
    const holder = cluster.nodeNameOf(cluster.shardOf(car, id));
    for (const node of cluster.nodeNames) if (node !== holder) cluster.downNodes.add(node);
    expect(await ingest.deleteObject(id, context)).toBe(true);
    cluster.downNodes.add(holder);
    expect(await refusal(ingest.deleteObject(id, context))).toMatch(
      /^unavailable: (shard \w+ of class '(Bus|Car|Note)'( or |: ))+node 'node\d' is down$/,
    );
  });
});
