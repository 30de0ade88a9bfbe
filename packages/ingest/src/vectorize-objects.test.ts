import type { WriteRouter } from "@shoal/cluster";
import { type ClassDefinition, type DataObject, type ObjectId, ShoalError, type StoredObject } from "@shoal/model";
import { EnabledModules, type Module } from "@shoal/module-api";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { INGEST_LIMITS } from "./ingest-parts.js";
import { input, refusal, setUp } from "./ingest-setup.fixture.js";
import { ObjectIngest } from "./object-ingest.js";

const context = { deadline: Number.MAX_SAFE_INTEGER };

/** The vector of an object: the length of its name, and how many weights it has. Names of one letter say nothing to it. */
const LENGTHS: Module = {
  name: "lengths",
  vectorizer: {
    vectorize: async (_definition, objects) =>
      objects.map(({ properties, vectorWeights }) => {
        const name = String(properties?.name ?? "");
        if (name.length === 1) return new ShoalError("invalid", `'${name}' says nothing`);
        const vector = Float32Array.of(
          name.length,
          Object.keys(vectorWeights ?? {}).length,
          ...(name === "long" ? [1] : []),
        );
        return { vector, additional: { madeOf: name } };
      }),
  },
  meta: async () => ({}),
  [Symbol.asyncDispose]: async () => {},
};

function setUpModules(modules = new EnabledModules([LENGTHS])) {
  const { cluster } = setUp();
  const car = cluster.classRecord("Car")?.definition;
  const definition = { ...car, class: "Word", vectorizer: "lengths" } as ClassDefinition;
  cluster.addDefinition(definition);
  let ids = 0;
  const stored = (id: ObjectId): DataObject | undefined =>
    [...cluster.rows.values()].flatMap((rows) => rows.get(id)?.object ?? [])[0];
  const router: WriteRouter = {
    isLost: () => false,
    shardOf: (record, id) => cluster.shardOf(record, id),
    shardsOf: (record) => cluster.shardsOf(record),
    node: (shard) => ({ ...cluster.node(shard), getObjects: async (_, ids) => ids.map((id) => rowOf(stored(id))) }),
  };
  const ingest = new ObjectIngest({
    schema: cluster,
    router,
    schemaService: cluster,
    modules,
    profile: { beaconScheme: "svc", patchReferences: "replace" },
    newId: () => `10000000-0000-4000-8000-${(++ids).toString(16).padStart(12, "0")}`,
    nowMs: () => 1,
    limits: INGEST_LIMITS,
    autoSchema: undefined,
  });
  return { cluster, ingest, stored };
}

function rowOf(object: DataObject | undefined): StoredObject | undefined {
  if (object === undefined) return undefined;
  const propertiesJson = Buffer.from(JSON.stringify(object.properties ?? {}));
  return { ...object, creationTimeUnix: 1, lastUpdateTimeUnix: 1, propertiesJson };
}

const word = (name: string, rest: object = {}) => input("Word", { properties: { name }, ...rest });

describe("an object of a class with a vectorizer", () => {
  it("gets its vector, over one that is sent, and what the module tells, beside what was sent", async () => {
    const { ingest, stored } = setUpModules();
    const sent = word("hello", { vector: [9, 9], vectorWeights: { a: "1", b: "w" }, additional: { mine: 1 } });
    const { object } = await ingest.createObject(sent, context);
    expect(object.vector).toEqual(Float32Array.of(5, 2));
    expect(object.extras).toEqual({ additional: { mine: 1, madeOf: "hello" }, vectorWeights: { a: "1", b: "w" } });
    expect(stored(object.id)).toMatchObject({ vector: Float32Array.of(5, 2) });
    await ingest.replaceObject(object.id, word("hi"), context);
    expect(stored(object.id)).toMatchObject({
      vector: Float32Array.of(2, 0),
      extras: { additional: { madeOf: "hi" } },
    });
  });

  it("gets a new one when it is merged, of all that it is then", async () => {
    const { ingest, stored } = setUpModules();
    const sent = word("hello", { vectorWeights: { a: "1" }, additional: { mine: 1 } });
    const { object } = await ingest.createObject(sent, context);
    await ingest.mergeObject(object.id, input("Word", { properties: { wheels: 4 } }), context);
    expect(stored(object.id)).toMatchObject({ vector: Float32Array.of(5, 1) });
    await ingest.mergeObject(object.id, word("hi"), context);
    expect(stored(object.id)).toMatchObject({ vector: Float32Array.of(2, 1), properties: { name: "hi", wheels: 4 } });
    const additional = { mine: 1, madeOf: "hi" };
    expect(stored(object.id)?.extras).toEqual({ vectorWeights: { a: "1" }, additional });
    await ingest.mergeObject(object.id, input("Word", { properties: { name: null } }), context);
    expect(stored(object.id)).toMatchObject({ vector: Float32Array.of(0, 1), extras: { additional: { madeOf: "" } } });
  });

  it("has the vector of all that it says after merges at the same time, some of them slow", async () => {
    const seed = Number(process.env.INGEST_SEED) || 17;
    const random = seededRandom(seed).next;
    const slow: Module = {
      name: "lengths",
      vectorizer: {
        vectorize: async (_definition, objects) => {
          for (let turns = Math.floor(random() * 6); turns > 0; turns--) await new Promise(setImmediate);
          return objects.map(({ properties = {} }) => ({ vector: vectorOf(properties), additional: { properties } }));
        },
      },
      meta: async () => ({}),
      [Symbol.asyncDispose]: async () => {},
    };
    const vectorOf = ({ name, wheels }: DataObject["properties"] & object): Float32Array =>
      Float32Array.of(Number(name ?? -1), Number(wheels ?? -1));
    const { ingest, stored } = setUpModules(new EnabledModules([slow]));
    for (let round = 0; round < 100; round++) {
      const { object } = await ingest.createObject(word("0"), context);
      const changes = Array.from({ length: 5 }, (_, number) =>
        random() < 0.5 ? { name: random() < 0.2 ? null : String(number) } : { wheels: number },
      );
      await Promise.all(
        changes.map((properties) => ingest.mergeObject(object.id, input("Word", { properties }), context)),
      );
      const after = stored(object.id);
      const properties = after?.properties ?? {};
      expect(after?.vector, `seed ${seed}, round ${round}`).toEqual(vectorOf(properties));
      expect(after?.extras?.additional, `seed ${seed}, round ${round}`).toEqual({ properties });
    }
  });

  it("is refused when it says nothing, or has a vector of another length; nothing is stored", async () => {
    const { ingest, cluster } = setUpModules();
    expect(await refusal(ingest.createObject(word("x"), context))).toBe("invalid: 'x' says nothing");
    await ingest.createObject(word("hello"), context);
    const before = JSON.stringify([...cluster.rows.values()].map((rows) => rows.size));
    expect(await refusal(ingest.createObject(word("long"), context))).toContain("invalid: ");
    expect(JSON.stringify([...cluster.rows.values()].map((rows) => rows.size))).toBe(before);
  });

  it("is one item of a batch: what is refused takes nobody with it", async () => {
    const { ingest } = setUpModules();
    const items = [word("one"), word("x"), input("Car", { properties: { name: "a" } }), word("three"), word("long")];
    const outcomes = await ingest.importObjects(items, context);
    const shown = outcomes.map((outcome) =>
      "written" in outcome ? [...(outcome.written.object.vector ?? [])] : outcome.error.code,
    );
    expect(shown).toEqual([[3, 0], "invalid", [1, 2], [5, 0], "invalid"]);
  });

  it("cannot be written without its module", async () => {
    const { ingest } = setUpModules(new EnabledModules([]));
    const message =
      "invalid: class 'Word' uses the vectorizer 'lengths', but no module of that name is present: name it in ENABLE_MODULES";
    expect(await refusal(ingest.createObject(word("hello"), context))).toBe(message);
    const [outcome] = await ingest.importObjects([word("hello")], context);
    expect(outcome).toMatchObject({ error: { message: message.replace("invalid: ", "") } });
  });
});
