import { type ObjectId, ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import type { ReferenceInput } from "./ingest-service.js";
import { input, refusal, type SetupOptions, setUp } from "./ingest-setup.fixture.js";

const target = "22222222-2222-2222-2222-222222222222";

function idOf(at: number): ObjectId {
  return `8e2997f2-1972-4ee2-ad35-${at.toString(16).padStart(12, "0")}` as ObjectId;
}

function reference(at: number, to = target, className = "Car", property = "notes"): ReferenceInput {
  return { from: `x://localhost/${className}/${idOf(at)}/${property}`, to: `y://localhost/${to}` };
}

async function withCars(count: number, options: SetupOptions = {}) {
  const setup = setUp(options);
  const { cluster, ingest, context } = setup;
  const cars = Array.from({ length: count }, (_, at) => input("Car", { id: idOf(at), properties: { name: `${at}` } }));
  await ingest.importObjects(cars, context);
  cluster.now = 2_000;
  cluster.calls.length = 0;
  const list = (at: number) => {
    const notes = cluster.row("Car", idOf(at))?.object.properties?.notes as { beacon: string }[] | undefined;
    return notes?.map(({ beacon }) => beacon);
  };
  const run = async (inputs: readonly ReferenceInput[]) =>
    (await ingest.importReferences(inputs, context)).map((outcome) =>
      "written" in outcome ? outcome.written : `${outcome.error.code}: ${outcome.error.message}`,
    );
  return { ...setup, list, run };
}

describe("importReferences", () => {
  it.each(["spec", "weaviate"] as const)("answers in canonical form, %s profile, and keeps order", async (profile) => {
    const { cluster, run, list } = await withCars(3, { profile, nodes: 2, shards: 3 });
    const scheme = profile === "spec" ? "svc" : "weaviate";
    const upper = {
      from: reference(1)
        .from.toUpperCase()
        .replace("LOCALHOST/CAR", "localhost/Car")
        .replace(/NOTES$/, "notes"),
      to: reference(1).to,
    };
    const others = [1, 2, 3].map((at) => target.replace(/.$/, String(at)));
    const inputs = [reference(0, others[0]), upper, reference(0, others[1]), reference(0, others[0]), reference(2)];
    const written = (at: number, to = target) => ({
      from: `${scheme}://localhost/Car/${idOf(at)}/notes`,
      to: `${scheme}://localhost/${to}`,
    });
    expect(await run(inputs)).toEqual([
      written(0, others[0]),
      written(1),
      written(0, others[1]),
      written(0, others[0]),
      written(2),
    ]);
    expect(list(0)).toEqual([others[0], others[1], others[0]].map((to) => `${scheme}://localhost/${to}`));
    await run([reference(0)]);
    expect(list(0)).toHaveLength(4);
    expect(cluster.row("Car", idOf(0))).toMatchObject({
      object: { properties: { name: "0" }, vector: Float32Array.of(1, 2) },
      times: { creationTimeUnix: 1_000, lastUpdateTimeUnix: 2_000 },
    });
  });

  it("tells each fault, stores the rest and makes no object", async () => {
    const { cluster, run, list } = await withCars(1);
    const place = `localhost/Car/${idOf(0)}`;
    const path = "invalid cref URI: path must be of format '/<uuid>', but got";
    const longForm =
      "invalid cref URI: must use long-form: path must be of format '/<className>/<uuid>/<propertyName>', but got";
    const to = reference(0).to;
    const faults: readonly [ReferenceInput, string][] = [
      [{ from: "", to: "" }, `${longForm} '', ${path} ''`],
      [{ from: `x://localhost/${idOf(0)}`, to }, `${longForm} '/${idOf(0)}'`],
      [{ from: `x://localhost/Car/7/notes`, to }, "invalid cref URI: 2nd path segment must be uuid, but got '7'"],
      [{ from: `x://localhost//${idOf(0)}/notes`, to }, "className cannot be empty"],
      [
        { from: `x://localhost/car/${idOf(0)}/notes`, to },
        "className must start with an uppercase letter, but got car",
      ],
      [{ from: `x://${place}/`, to }, "property cannot be empty"],
      [
        { from: `x://other/Car/${idOf(0)}/notes`, to },
        "source class must always point to the local peer, but got other",
      ],
      [{ from: reference(0).from, to: "x://localhost/Car/7" }, `${path} '/Car/7'`],
      [{ from: reference(0).from, to: `x://other/${target}` }, `the host of a beacon must be 'localhost', got "other"`],
      [reference(0, target, "Nope"), "could not find class 'Nope' in the schema: did you mean 'Note'?"],
      [
        reference(0, target, "Car", "nope"),
        "Could not find property 'nope': no such prop with name 'nope' found in class 'Car' in the schema: it has name, wheels, notes",
      ],
      [
        reference(0, target, "Car", "name"),
        "property 'name' of class 'Car' holds no references: its data type names no class",
      ],
    ];
    const results = await run([...faults.map(([given]) => given), reference(0), reference(1)]);
    expect(results.slice(0, -2)).toEqual(faults.map(([, message]) => `invalid: ${message}`));
    expect(results.slice(-2)).toEqual([expect.anything(), `notFound: no object with id '${idOf(1)}'`]);
    expect(list(0)).toHaveLength(1);
    expect([...cluster.rows.values()].reduce((sum, rows) => sum + rows.size, 0)).toBe(1);
  });

  it("is refused when it is empty", async () => {
    const { ingest, context } = setUp();
    expect(await refusal(ingest.importReferences([], context))).toBe(
      "invalid: the batch has no references: it needs at least one",
    );
  });

  it("is one request a shard, with one change an object, in chunks of limited size", async () => {
    const { cluster, run } = await withCars(40, { nodes: 2, shards: 4, limits: { chunkObjectsMax: 5 } });
    await run(Array.from({ length: 400 }, (_, at) => reference(at % 40)));
    const sizes = cluster.calls.map((call) => Number(call.split(" ").at(-1)));
    expect(new Set(cluster.calls.map((call) => call.split(" ")[1]))).toEqual(new Set(["merge"]));
    expect(sizes.reduce((a, b) => a + b, 0)).toBe(40);
    expect(Math.max(...sizes)).toBe(5);
    expect(sizes.length).toBeLessThanOrEqual(40 / 5 + 4);
  });

  it("a failing shard fails only its references", async () => {
    const { cluster, run, list } = await withCars(30, { shards: 3 });
    const car = cluster.classRecord("Car");
    if (car === undefined) throw new Error("no class");
    const bad = cluster.shardsOf(car)[1]?.shardName;
    cluster.beforePut = (shard) => {
      if (shard.shardName === bad) throw new ShoalError("unavailable", "gone");
    };
    const results = await run(Array.from({ length: 30 }, (_, at) => reference(at)));
    const stored = results.map((result) => result !== "unavailable: gone");
    expect(stored).toEqual(results.map((_, at) => cluster.shardOf(car, idOf(at)).shardName !== bad));
    expect(new Set(stored).size).toBe(2);
    expect(stored).toEqual(results.map((_, at) => list(at) !== undefined));
  });

  it("ends with deadlineExceeded when the deadline passes; what was acknowledged stays", async () => {
    const { cluster, ingest, list } = await withCars(30, { limits: { chunkObjectsMax: 10 } });
    cluster.beforePut = () => {
      cluster.now += 40;
    };
    const batch = Array.from({ length: 30 }, (_, at) => reference(at));
    expect(await refusal(ingest.importReferences(batch, { deadline: cluster.now + 60 }))).toBe(
      "deadlineExceeded: the batch ran into its time-out; what was acknowledged by then is stored",
    );
    expect([list(19)?.length, list(20)]).toEqual([1, undefined]);
  });

  it("knows a property by any name that a class may have", async () => {
    const { cluster, ingest, context } = setUp();
    cluster.addClass({ class: "Odd", properties: [{ name: "constructor", dataType: ["Note"] }] });
    await ingest.createObject(input("Odd", { id: idOf(0) }), context);
    await ingest.importReferences([reference(0, target, "Odd", "constructor")], context);
    await ingest.importReferences([reference(0, target, "Odd", "constructor")], context);
    const properties = cluster.row("Odd", idOf(0))?.object.properties;
    expect(Object.getOwnPropertyDescriptor(properties, "constructor")?.value).toHaveLength(2);
    const result = await ingest.importReferences([reference(0, target, "Odd", "toString")], context);
    expect(result).toMatchObject([{ error: { code: "invalid" } }]);
  });

  it("agrees with lists kept by hand over random batches (seed 11)", async () => {
    const { below } = seededRandom(11);
    const { run, list } = await withCars(12, { nodes: 2, shards: 3, limits: { chunkObjectsMax: 3 } });
    const lists = new Map<number, string[]>();
    for (let round = 0; round < 40; round++) {
      const batch = Array.from({ length: 1 + below(25) }, () => ({
        at: below(14),
        to: `${below(9)}${target.slice(1)}`,
      }));
      const results = await run(batch.map(({ at, to }) => reference(at, to)));
      for (const [index, { at, to }] of batch.entries()) {
        expect(typeof results[index] === "object").toBe(at < 12);
        if (at < 12) lists.set(at, [...(lists.get(at) ?? []), `svc://localhost/${to}`]);
      }
    }
    for (let at = 0; at < 12; at++) expect(list(at)).toEqual(lists.get(at));
  });
});
