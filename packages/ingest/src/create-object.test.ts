import { type ObjectId, ShoalError } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { input, MISSING_VECTOR, plantNote, refusal, setUp } from "./ingest-setup.fixture.js";

const id = "8e2997f2-1972-4ee2-ad35-5fc704f2893e" as ObjectId;
const noted = "22222222-2222-2222-2222-222222222222" as ObjectId;

describe("createObject", () => {
  it("stores a complete object and tells what was stored", async () => {
    const { cluster, ingest, context } = setUp();
    plantNote(cluster, noted);
    const written = await ingest.createObject(
      input("Car", {
        id: id.toUpperCase(),
        properties: { wheels: 4, name: "a", notes: [{ beacon: `x://localhost/${noted}`, href: "h" }] },
        vectorWeights: { a: "1" },
        additional: { k: [1] },
      }),
      context,
    );
    expect(written).toEqual({
      object: {
        id,
        className: "Car",
        properties: { name: "a", notes: [{ beacon: `svc://localhost/${noted}` }], wheels: 4 },
        vector: Float32Array.of(1, 2),
        extras: { additional: { k: [1] }, vectorWeights: { a: "1" } },
      },
      creationTimeUnix: 1_000,
      lastUpdateTimeUnix: 1_000,
    });
    expect(cluster.row("Car", id)?.object).toEqual(written.object);
  });

  it.each([undefined, ""])("gives an object with the id %j a random one, without asking for it", async (none) => {
    const { cluster, ingest, context } = setUp();
    const { object } = await ingest.createObject(input("Car", { id: none }), context);
    expect(object.id).toBe("00000000-0000-4000-8000-000000000001");
    expect(object.properties).toBeUndefined();
    expect(object.extras).toBeUndefined();
    expect(cluster.calls).toEqual(["node0 put Car create 1"]);
  });

  it.each([
    [input(undefined), "invalid object: the object names no class: give it in the member 'class'"],
    [input(""), "invalid object: the object names no class: give it in the member 'class'"],
    [input("car"), "invalid object: could not find class 'car' in the schema: did you mean 'Car'?"],
    [
      input("__proto__"),
      "invalid object: could not find class '__proto__' in the schema: create it with POST /v1/schema first",
    ],
    [input("Car", { id: "x" }), `member 'id' must be a UUID, got "x"`],
    [
      input("Car", { id: "8e2997f2-19724ee2-ad35-5fc704f2893e" }),
      `member 'id' must be a UUID, got "8e2997f2-19724ee2-ad35-5fc704f2893e"`,
    ],
    [
      input("Car", { properties: { name: 1 } }),
      "invalid object: invalid text property 'name' on class 'Car': not a string, but the number 1",
    ],
    [
      input("Car", { properties: "x" }),
      `invalid object: the properties of class 'Car' must be an object, but got the string "x"`,
    ],
    [
      input("Car", { properties: { nope: 1 } }),
      "invalid object: no such prop with name 'nope' found in class 'Car' in the schema: it has name, wheels, notes",
    ],
    [
      input("Car", { vectorWeights: { a: 1 } }),
      "invalid object: vector weights: the value of 'a' must be a string, got the number 1",
    ],
    [input("Car", { additional: "x" }), 'invalid object: additional must be an object, got the string "x"'],
    [input("Car", { vector: undefined }), MISSING_VECTOR],
    [input("Car", { vector: null }), MISSING_VECTOR],
    [input("Car", { vector: [] }), MISSING_VECTOR],
    [
      input("Car", { vector: [1, "x"] }),
      'element 1 of the vector must be a number within the range of float32, but got the string "x"',
    ],
    [
      input("Car", { vector: [1e39] }),
      "element 0 of the vector must be a number within the range of float32, but got the number 1e+39",
    ],
  ])("refuses %j and asks no node", async (body, message) => {
    const { cluster, ingest, context } = setUp();
    expect(await refusal(ingest.createObject(body, context))).toBe(`invalid: ${message}`);
    expect(cluster.calls.filter((call) => call.includes("put"))).toEqual([]);
    expect(cluster.fixCalls).toBe(0);
  });

  it.each([
    [{ additional: {} }, undefined],
    [{ additional: null }, undefined],
    [{ additional: {}, vectorWeights: { a: "1" } }, { vectorWeights: { a: "1" } }],
    [{ additional: { k: {} } }, { additional: { k: {} } }],
  ])("keeps of %j: %j", async (body, extras) => {
    const { ingest, context } = setUp();
    expect((await ingest.createObject(input("Car", body), context)).object.extras).toEqual(extras);
  });

  it("F6: gives an object without an id one whose shard is there, and refuses when none is", async () => {
    const { cluster, ingest, context } = setUp({ nodes: 3, shards: 6 });
    await ingest.createObject(input("Car"), context);
    cluster.publishDimensions();
    cluster.calls.length = 0;
    for (const name of ["node0", "node1"]) cluster.downNodes.add(name);
    for (let i = 0; i < 30; i++) await ingest.createObject(input("Car"), context);
    expect(cluster.calls).toEqual(Array(30).fill("node2 put Car create 1"));
    cluster.downNodes.add("node2");
    expect(await refusal(ingest.createObject(input("Car"), context))).toMatch(/^unavailable: node 'node\d' is down$/);
  });

  it("lets classes that skip vector indexing do without a vector", async () => {
    const { cluster, ingest, context } = setUp();
    const { object } = await ingest.createObject(input("Note", { vector: undefined }), context);
    expect(object.vector).toBeUndefined();
    expect(cluster.fixCalls).toBe(0);
  });

  it("refuses classes whose vectorizer is not there", async () => {
    const { cluster, ingest, context } = setUp();
    const car = cluster.classRecord("Car");
    if (car === undefined) throw new Error();
    cluster.addDefinition({ ...car.definition, class: "Text", vectorizer: "text2vec-x" });
    expect(await refusal(ingest.createObject(input("Text"), context))).toBe(
      "invalid: class 'Text' uses the vectorizer 'text2vec-x', but no module of that name is present: name it in ENABLE_MODULES",
    );
  });
});

describe("dimensions", () => {
  it("are fixed once, by the first object, and held for all later ones", async () => {
    const { cluster, ingest, context } = setUp();
    await ingest.createObject(input("Car", { vector: [1, 2, 3] }), context);
    expect(cluster.fixCalls).toBe(1);
    const mismatch =
      "invalid: class 'Car' has vectors of 3 dimensions, got one of 2 (vector lengths don't match: 2 vs 3): use a vector of the same model, or a class of its own";
    expect(await refusal(ingest.createObject(input("Car", { id, vector: [1, 2] }), context))).toBe(mismatch);
    cluster.publishDimensions();
    expect(await refusal(ingest.createObject(input("Car", { id, vector: [1, 2] }), context))).toBe(mismatch);
    expect(cluster.row("Car", id)).toBeUndefined();
    await ingest.createObject(input("Car", { vector: [1, 2, 3] }), context);
    expect(cluster.fixCalls).toBe(1);
  });

  it("are settled between two first objects: one length wins, the other is refused and not stored", async () => {
    const { cluster, ingest, context } = setUp();
    const results = await Promise.all([
      refusal(ingest.createObject(input("Car", { vector: [1, 2, 3] }), context)),
      refusal(ingest.createObject(input("Car", { vector: [1, 2] }), context)),
      refusal(ingest.createObject(input("Car", { vector: [3, 2, 1] }), context)),
    ]);
    expect(results).toEqual([
      "accepted",
      "invalid: class 'Car' has vectors of 3 dimensions, got one of 2 (vector lengths don't match: 2 vs 3): use a vector of the same model, or a class of its own",
      "accepted",
    ]);
    expect(cluster.fixCalls).toBe(1);
  });

  it("store nothing while the coordinator is away, and are asked for again", async () => {
    const { cluster, ingest, context } = setUp();
    cluster.fixFailure = new ShoalError("unavailable", "no coordinator");
    expect(await refusal(ingest.createObject(input("Car", { id }), context))).toBe("unavailable: no coordinator");
    expect(cluster.row("Car", id)).toBeUndefined();
    cluster.fixFailure = undefined;
    expect(await refusal(ingest.createObject(input("Car", { id }), context))).toBe("accepted");
  });

  it("a class that is deleted at that moment is an unknown class", async () => {
    const { cluster, ingest, context } = setUp();
    cluster.fixFailure = new ShoalError("notFound", "could not find class 'Car'");
    const message = "invalid: could not find class 'Car' in the schema: create it with POST /v1/schema first";
    expect(await refusal(ingest.createObject(input("Car", { id }), context))).toBe(message);
  });

  it("are asked for again by the second when the first who asked failed", async () => {
    const { cluster, ingest, context } = setUp();
    const fix = cluster.fixDimensions.bind(cluster);
    let calls = 0;
    cluster.fixDimensions = async (...question) => {
      await Promise.resolve();
      if (++calls === 1) throw new ShoalError("deadlineExceeded", "too late");
      return fix(...question);
    };
    const first = refusal(ingest.createObject(input("Car"), context));
    const second = refusal(ingest.createObject(input("Car"), context));
    expect(await Promise.all([first, second])).toEqual(["deadlineExceeded: too late", "accepted"]);
    expect(calls).toBe(2);
  });
});

describe("validateObject", () => {
  it.each([
    [input("Car", { id: "x" }), `invalid: member 'id' must be a UUID, got "x"`],
    [input("Nope"), "invalid: invalid object: could not find class 'Nope' in the schema: did you mean 'Note'?"],
    [input("Car", { vector: undefined }), "accepted"],
    [input("Car", { id }), "accepted"],
    [
      input("Car", { vector: [1, null] }),
      "invalid: invalid object: element 1 of the vector must be a number within the range of float32, but got null",
    ],
    [
      input("Car", { properties: { wheels: "4" } }),
      `invalid: invalid object: invalid integer property 'wheels' on class 'Car': requires an integer of at most 64 bits, without fraction or exponent, but got the string "4"`,
    ],
  ])("answers to %j: %s", async (body, result) => {
    const { cluster, ingest, context } = setUp();
    expect(await refusal(ingest.validateObject(body, context))).toBe(result);
    expect(cluster.calls).toEqual([]);
  });

  it("takes an id that exists and refuses a vector of another length", async () => {
    const { cluster, ingest, context } = setUp();
    await ingest.createObject(input("Car", { id }), context);
    cluster.publishDimensions();
    expect(await refusal(ingest.validateObject(input("Car", { id }), context))).toBe("accepted");
    expect(await refusal(ingest.validateObject(input("Car", { vector: [1] }), context))).toBe(
      "invalid: invalid object: class 'Car' has vectors of 2 dimensions, got one of 1 (vector lengths don't match: 1 vs 2): use a vector of the same model, or a class of its own",
    );
  });
});
