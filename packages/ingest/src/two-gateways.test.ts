import { type ObjectId, ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import type { ObjectInput } from "./ingest-service.js";
import { input, refusal } from "./ingest-setup.fixture.js";
import { MemoryCluster } from "./memory-cluster.fixture.js";
import { LateGateway } from "./two-gateways.fixture.js";

const SEED = 20261120;
const context = { deadline: Number.MAX_SAFE_INTEGER };
const id = "11111111-1111-4111-8111-111111111111" as ObjectId;
const target = "22222222-2222-4222-8222-222222222222" as ObjectId;
const NAMED = [{ name: "name", dataType: ["text"] }];

function idOf(at: number): ObjectId {
  return `${at.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000` as ObjectId;
}

function setUp() {
  const cluster = new MemoryCluster(["n0", "n1"], 2);
  cluster.addClass({ class: "Note", vectorIndexConfig: { skip: true }, properties: NAMED });
  return { cluster, gateway: new LateGateway(cluster, false) };
}

describe("a gateway that has not heard of a change yet", () => {
  const object = input("Car", { id, properties: { name: "x" } });

  it.each<[string, (gateway: LateGateway) => Promise<unknown>]>([
    ["creates", ({ ingest }) => ingest.createObject({ ...object, id: target }, context)],
    ["replaces", ({ ingest }) => ingest.replaceObject(id, object, context)],
    ["merges", ({ ingest }) => ingest.mergeObject(id, object, context)],
    ["validates", ({ ingest }) => ingest.validateObject(object, context)],
    ["deletes", async ({ ingest }) => expect(await ingest.deleteObject(id, context)).toBe(true)],
    ["adds a reference in", ({ ingest }) => ingest.addReference(id, "notes", `svc://localhost/${id}`, context)],
    [
      "imports",
      async ({ ingest }) => {
        const outcomes = await ingest.importObjects([object, input("Note"), object, undefined], context);
        expect(outcomes.map((outcome) => "written" in outcome)).toEqual([true, true, true, false]);
      },
    ],
    [
      "imports references of",
      async ({ ingest }) => {
        const from = `svc://localhost/Car/${id}/notes`;
        const outcomes = await ingest.importReferences([{ from, to: `svc://localhost/${id}` }], context);
        expect(outcomes.map((outcome) => "written" in outcome)).toEqual([true]);
      },
    ],
  ])("%s an object of a class that another one made, with one question", async (_, work) => {
    const { cluster, gateway } = setUp();
    const properties = [...NAMED, { name: "notes", dataType: ["Note"] }];
    const car = cluster.addClass({ class: "Car", properties });
    cluster.plant(car, id);
    await work(gateway);
    expect(gateway.questions).toBe(1);
    gateway.questions = 0;
    await work(gateway).catch(() => undefined);
    expect(gateway.questions).toBeLessThanOrEqual(1);
  });

  it("asks nobody about what it knows", async () => {
    const { gateway } = setUp();
    await gateway.ingest.createObject(input("Note", { id }), context);
    await gateway.ingest.importObjects([input("Note"), input("Note")], context);
    await gateway.ingest.deleteObject(id, context);
    expect(gateway.questions).toBe(0);
  });

  it("knows an object that is referred to in a class that another one made", async () => {
    const { cluster, gateway } = setUp();
    cluster.addClass({ class: "Car", properties: [{ name: "notes", dataType: ["Note"] }] });
    gateway.hear(cluster.snapshot);
    cluster.plant(cluster.addClass({ class: "Bus" }), target);
    const properties = { notes: [{ beacon: `svc://localhost/${target}` }] };
    const [outcome] = await gateway.ingest.importObjects([input("Car", { properties })], context);
    expect(outcome).toHaveProperty("written");
  });

  it("tells that a class is gone, not that its shards are", async () => {
    const { cluster, gateway } = setUp();
    cluster.addClass({ class: "Car" });
    gateway.hear(cluster.snapshot);
    cluster.deleteClass("Car");
    cluster.beforePut = () => {
      throw new ShoalError("unavailable", "shard s1 of class 'Car' on node 'n0' is not there");
    };
    const result = "could not find class 'Car' in the schema: create it with POST /v1/schema first";
    expect(await refusal(gateway.ingest.createObject(input("Car"), context))).toBe(
      `invalid: invalid object: ${result}`,
    );
    gateway.hear({ ...cluster.snapshot, version: 1_000, historyId: "x" });
    const outcomes = await gateway.ingest.importObjects([input("Car"), input("Note")], context);
    expect(outcomes.map((one) => ("error" in one ? one.error.code : "stored"))).toEqual(["invalid", "unavailable"]);
  });

  it("repeats nothing that may have been written, because of a change of another class", async () => {
    const { cluster, gateway } = setUp();
    cluster.addClass({ class: "Bus" });
    let puts = 0;
    cluster.beforePut = () => {
      puts++;
      throw new ShoalError("unavailable", "lost");
    };
    expect(await refusal(gateway.ingest.createObject(input("Note", { id }), context))).toBe("unavailable: lost");
    const outcomes = await gateway.ingest.importObjects([input("Note", { id })], context);
    expect([outcomes.map((one) => "error" in one && one.error.message), puts]).toEqual([["lost"], 2]);
  });
});

describe("two gateways on one coordinator", () => {
  it(`agree on types and vector lengths, and know what either has answered, seed ${SEED}`, async () => {
    let refused = 0;
    for (let round = 0; round < 60; round++) {
      const random = seededRandom(SEED + round).below;
      const cluster = new MemoryCluster(["n0", "n1", "n2"], 2);
      const turns = async () => {
        for (let left = random(4); left > 0; left--) await Promise.resolve();
      };
      cluster.beforeEnsure = turns;
      const gateways = [new LateGateway(cluster, true, turns), new LateGateway(cluster, true, turns)];
      const stored = new Map<string, ObjectInput>();
      let ids = 0;
      const make = (): ObjectInput => {
        const names = Array.from({ length: random(3) }, () => `p${random(3)}`);
        const value = () => [random(9), `t${random(9)}`, random(2) === 0][random(3)];
        const properties = Object.fromEntries(names.map((name) => [name, value()]));
        const vector = Array.from({ length: 2 + random(2) }, () => random(9));
        return input(["Thing", "Other"][random(2)], { id: idOf(++ids), properties, vector });
      };
      const work = async () => {
        const objects = Array.from({ length: 1 + random(3) }, make);
        const { ingest } = gateways[random(2)] as LateGateway;
        const [only] = objects;
        const outcomes =
          objects.length === 1 && only !== undefined
            ? [await ingest.createObject(only, context).then(() => "written", String)]
            : (await ingest.importObjects(objects, context)).map((one) =>
                "written" in one ? "written" : String(one.error),
              );
        for (const [at, outcome] of outcomes.entries()) {
          const object = objects[at];
          if (object === undefined) throw new Error("an outcome too many");
          if (outcome === "written") {
            stored.set(object.id ?? "", object);
            // Any gateway finds at once what either has stored, whatever it has heard.
            const other = gateways[random(2)] as LateGateway;
            await other.ingest.mergeObject(
              object.id as ObjectId,
              input(object.className, { vector: undefined }),
              context,
            );
          } else {
            refused++;
            expect(outcome).toMatch(/lengths don't match|requires|must be|not a|not true|is not|expected|type/i);
          }
        }
        if (random(3) === 0) (gateways[random(2)] as LateGateway).hear(cluster.snapshot);
      };
      await Promise.all(Array.from({ length: 10 }, work));
      const lengths = new Map<string, number>();
      for (const [of, { className = "" }] of stored) {
        const row = cluster.row(className, of);
        if (row === undefined) throw new Error(`${of} is lost`);
        const length = row.object.vector?.length ?? 0;
        expect(lengths.get(className) ?? length, "vectors of one length").toBe(length);
        lengths.set(className, length);
        const types = new Map(
          cluster.classRecord(className)?.definition.properties?.map(({ name, dataType }) => [name, dataType[0]]),
        );
        for (const [name, value] of Object.entries(row.object.properties ?? {})) {
          expect(typeof value === "string" ? "text" : typeof value).toBe(types.get(name));
        }
      }
      expect(stored.size).toBeGreaterThan(0);
    }
    expect(refused).toBeGreaterThan(100);
  });
});
