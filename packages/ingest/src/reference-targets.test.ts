import type { ObjectId } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { input, MISSING_VECTOR, plantNote, refusal, type SetupOptions, setUp } from "./ingest-setup.fixture.js";

const id = "8e2997f2-1972-4ee2-ad35-5fc704f2893e" as ObjectId;
const there = "22222222-2222-2222-2222-222222222222" as ObjectId;
const nowhere = "33333333-3333-3333-3333-333333333333" as ObjectId;
const missing = `invalid cref: 'cref' Car:notes: no object with id ${nowhere} found`;

function notes(...ids: string[]): { readonly notes: readonly { readonly beacon: string }[] } {
  return { notes: ids.map((one) => ({ beacon: `x://localhost/${one}` })) };
}

async function withCar(options: SetupOptions = {}) {
  const setup = setUp({ nodes: 2, shards: 3, ...options });
  plantNote(setup.cluster, there);
  await setup.ingest.createObject(input("Car", { id }), setup.context);
  setup.cluster.publishDimensions();
  setup.cluster.calls.length = 0;
  return setup;
}

type Operation = readonly [name: string, prefix: string, run: (setup: Setup, body: Body) => Promise<unknown>];
type Setup = Awaited<ReturnType<typeof withCar>>;
type Body = Parameters<typeof input>[1];

const OPERATIONS: readonly Operation[] = [
  ["create", "invalid object: ", ({ ingest, context }, body) => ingest.createObject(input("Car", body), context)],
  ["replace", "invalid object: ", ({ ingest, context }, body) => ingest.replaceObject(id, input("Car", body), context)],
  ["merge", "invalid merge: ", ({ ingest, context }, body) => ingest.mergeObject(id, input("Car", body), context)],
  ["validate", "invalid object: ", ({ ingest, context }, body) => ingest.validateObject(input("Car", body), context)],
];

describe.each(OPERATIONS)("what a reference points to, at %s", (name, prefix, run) => {
  it("must exist, in whatever class", async () => {
    const setup = await withCar();
    const before = setup.cluster.row("Car", id);
    expect(await refusal(run(setup, { properties: notes(nowhere) }))).toBe(`invalid: ${prefix}${missing}`);
    expect(await refusal(run(setup, { properties: notes(there, nowhere) }))).toBe(`invalid: ${prefix}${missing}`);
    expect(setup.cluster.row("Car", id)).toBe(before);
    expect(await refusal(run(setup, { properties: notes(there, id, there) }))).toBe("accepted");
  });

  it("is asked for once a node, all targets together", async () => {
    const setup = await withCar();
    await run(setup, { properties: notes(there, id, there) });
    const asked = setup.cluster.calls.filter((call) => call.includes(" find "));
    expect(asked.sort()).toEqual(["node0 find 2", "node1 find 2"]);
  });

  it("costs nothing without references", async () => {
    const setup = await withCar();
    await run(setup, { properties: { name: "a" } });
    await run(setup, { properties: notes() });
    expect(setup.cluster.calls.filter((call) => call.includes(" find "))).toEqual([]);
  });

  it("is not called missing when a shard that may have it cannot be asked", async () => {
    const setup = await withCar();
    setup.cluster.downShards.add("Bus");
    const down = "a shard of 'Bus' is down";
    const result = await refusal(run(setup, { properties: notes(nowhere) }));
    expect(result).toBe(`unavailable: ${prefix}${down}`);
    expect(await refusal(run(setup, { properties: notes(there) }))).toBe("accepted");
  });

  it("is missed before a fault of the vector and after one of the content", async () => {
    const setup = await withCar();
    const both = { properties: notes(nowhere), vector: [1, "x"] };
    expect(await refusal(run(setup, both))).toBe(`invalid: ${prefix}${missing}`);
    const result = await refusal(run(setup, { properties: { ...notes(nowhere), wheels: "x" } }));
    expect(result).toContain(`${prefix}invalid integer property 'wheels'`);
    if (name === "validate" || name === "merge") return;
    expect(await refusal(run(setup, { properties: notes(there), vector: [] }))).toBe(`invalid: ${MISSING_VECTOR}`);
  });
});

describe("what references of single objects point to", () => {
  it("is told after a taken id, in the same request", async () => {
    const { cluster, ingest, context } = await withCar();
    const body = input("Car", { id: there, properties: notes(nowhere) });
    expect(await refusal(ingest.createObject(body, context))).toBe(`invalid: id '${there}' already exists`);
    cluster.calls.length = 0;
    await ingest.createObject(input("Car", { id: nowhere, properties: notes(there) }), context);
    expect(cluster.calls.filter((call) => call.includes(" find ")).sort()).toEqual(["node0 find 2", "node1 find 2"]);
  });

  it("is told after an unknown id", async () => {
    const { ingest, context } = await withCar();
    const body = input("Car", { properties: notes(nowhere) });
    expect(await refusal(ingest.replaceObject(nowhere, body, context))).toBe(
      `notFound: no object with id '${nowhere}'`,
    );
    expect(await refusal(ingest.mergeObject(nowhere, body, context))).toBe(
      `invalid: invalid merge: object with id '${nowhere}' does not exist`,
    );
  });

  it("may not be the new object itself", async () => {
    const { ingest, context } = await withCar();
    const body = input("Car", { id: nowhere, properties: notes(nowhere) });
    expect(await refusal(ingest.createObject(body, context))).toBe(`invalid: invalid object: ${missing}`);
  });
});

describe("what references of a batch point to", () => {
  async function imported(setup: Setup, items: readonly Body[]): Promise<string[]> {
    const inputs = items.map((item) => input("Car", item));
    const outcomes = await setup.ingest.importObjects(inputs, setup.context);
    return outcomes.map((outcome) => ("written" in outcome ? "ok" : `${outcome.error.code}: ${outcome.error.message}`));
  }

  it("must be stored already, item by item", async () => {
    const setup = await withCar();
    const items = [
      { properties: notes(there) },
      { properties: notes(nowhere) },
      { id: nowhere, properties: { name: "in the same batch" } },
      { properties: notes(id, nowhere), vector: [] },
      { properties: notes(there), vector: [1] },
      { properties: { wheels: 1 } },
    ];
    expect(await imported(setup, items)).toEqual([
      "ok",
      `invalid: ${missing}`,
      "ok",
      `invalid: ${missing}, ${MISSING_VECTOR}`,
      "invalid: class 'Car' has vectors of 2 dimensions, got one of 1 (vector lengths don't match: 1 vs 2): use a vector of the same model, or a class of its own",
      "ok",
    ]);
    expect(await imported(setup, items.slice(1, 2))).toEqual(["ok"]);
  });

  it("is asked for together, each target once, in questions of limited size", async () => {
    const setup = await withCar({ nodes: 1, limits: { askedIdsMax: 3 } });
    const others = Array.from({ length: 5 }, (_, at) => nowhere.replace(/.$/, String(at)));
    await imported(
      setup,
      [...others, ...others].map((one) => ({ properties: notes(one, there) })),
    );
    expect(setup.cluster.calls).toEqual(["node0 find 3", "node0 find 3"]);
  });

  it("is asked for by no batch without references", async () => {
    const setup = await withCar({ nodes: 1, shards: 1 });
    expect(await imported(setup, [{ properties: { wheels: 1 } }, { properties: notes() }])).toEqual(["ok", "ok"]);
    expect(setup.cluster.calls).toEqual(["node0 put Car upsert 2"]);
  });

  it("fails only the items that have it while a shard cannot be asked", async () => {
    const setup = await withCar();
    setup.cluster.downShards.add("Bus");
    const items = [{ properties: notes(nowhere) }, { properties: notes(there) }, { properties: { wheels: 2 } }];
    expect(await imported(setup, items)).toEqual(["unavailable: a shard of 'Bus' is down", "ok", "ok"]);
  });
});
