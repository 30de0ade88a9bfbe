import { setImmediate } from "node:timers/promises";
import { type ObjectId, ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import type { ObjectInput } from "../ingest-service.js";
import { input, refusal, setUp } from "../ingest-setup.fixture.js";
import { batch, typesOf, withProperties } from "./auto-schema.fixture.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20_261_120);

function idOf(number: number): ObjectId {
  return `00000000-0000-4000-9000-${number.toString(16).padStart(12, "0")}` as ObjectId;
}

describe("a batch", () => {
  it("of 10,000 objects of an unseen class costs one schema change", async () => {
    const setup = setUp({ autoSchema: {}, shards: 3 });
    const inputs = Array.from({ length: 10_000 }, (_, i) =>
      withProperties("Thing", { name: `n${i}`, rank: i, ...(i % 1_000 === 999 ? { [`late${i}`]: true } : {}) }),
    );
    expect(new Set(await batch(setup, inputs))).toEqual(new Set(["stored"]));
    expect(setup.cluster.schemaChanges).toBe(1);
    expect(Object.keys(typesOf(setup, "Thing"))).toHaveLength(12);
  });

  it("costs one change a class, and items that need none go along", async () => {
    const setup = setUp({ autoSchema: {} });
    const inputs = ["Thing", "Bus", "other", "Thing", "Car", "thing", "Other"].map((className, at) =>
      withProperties(className, className === "Bus" ? { wheels: 4 } : { [`p${at}`]: at }),
    );
    expect(new Set(await batch(setup, inputs))).toEqual(new Set(["stored"]));
    expect(setup.cluster.schemaChanges).toBe(3);
    expect(typesOf(setup, "Thing")).toEqual({ p0: ["number"], p3: ["number"], p5: ["number"] });
    expect(typesOf(setup, "Other")).toEqual({ p2: ["number"], p6: ["number"] });
    expect(typesOf(setup, "Bus")).not.toHaveProperty("p1");
  });

  it("takes what the first item says; one that contradicts it fails and adds nothing", async () => {
    const setup = setUp({ autoSchema: {} });
    expect(
      await batch(setup, [
        withProperties("Thing", { a: "x" }),
        withProperties("Thing", { a: 1, b: 1 }),
        withProperties("Thing", { b: "text now" }),
        withProperties("Thing", { c: { no: "map" } }),
        input("Thing", { vector: [1, 2, 3], properties: { d: 1 } }),
      ]),
    ).toEqual([
      "stored",
      "invalid text property 'a' on class 'Thing': not a string, but the number 1",
      "stored",
      "auto-schema has no data type for property 'c' of class 'Thing': a map must be geoCoordinates ('latitude' and 'longitude') or a phoneNumber ('input')",
      expect.stringContaining("3"),
    ]);
    expect(typesOf(setup, "Thing")).toEqual({ a: ["text"], b: ["text"] });
  });

  it("of refused objects only makes no class", async () => {
    const setup = setUp({ autoSchema: {} });
    const before = setup.cluster.snapshot;
    await batch(setup, [withProperties("Thing", { a: {} }), input("Thing", { vector: undefined })]);
    expect(setup.cluster.snapshot).toBe(before);
  });

  it("tells all that comes of a class that cannot be", async () => {
    expect(await batch(setUp({ autoSchema: {} }), [input("class 2"), input("class 2")])).toEqual(
      Array(2).fill(
        "'Class 2' is not a valid class name: behind its first letter, only letters A to Z, digits and _ may follow",
      ),
    );
  });

  it("keeps the order of its items: of equal ids the last one stays, the first vector fixes the length", async () => {
    const setup = setUp({ autoSchema: {} });
    const at = (version: number, news: object) => withProperties("Car", { wheels: version, ...news }, { id: idOf(7) });
    await batch(setup, [at(1, {}), at(2, { news: 1 }), at(3, {}), at(4, { unseen: null })]);
    expect(setup.cluster.row("Car", idOf(7))?.object.properties).toEqual({ wheels: 4 });
    await batch(setup, [at(1, { news: 2 }), at(2, {})]);
    expect(setup.cluster.row("Car", idOf(7))?.object.properties).toEqual({ wheels: 2 });
    const outcomes = await batch(setup, [
      input("Bus", { vector: [1, 2, 3] }),
      input("Bus", { vector: [1, 2], properties: { news: 1 } }),
    ]);
    expect(outcomes).toEqual(["stored", expect.stringContaining("2")]);
    expect(typesOf(setup, "Bus")).not.toHaveProperty("news");
  });

  it("of thousands of unseen classes asks for no more than there may be, and yields", async () => {
    const setup = setUp({ autoSchema: {}, limits: { stepMsMax: 0 } });
    setup.cluster.schemaLimits = { classesMax: 5, propertiesPerClassMax: 5 };
    let asked = 0;
    setup.cluster.beforeEnsure = async () => void asked++;
    let iterations = 0;
    const counting = new AbortController();
    void (async () => {
      for (; !counting.signal.aborted; iterations++) await setImmediate();
    })();
    const outcomes = await batch(
      setup,
      Array.from({ length: 3_000 }, (_, i) => input(`Class${i}`)),
    );
    counting.abort();
    expect(outcomes.filter((outcome) => outcome === "stored")).toHaveLength(2);
    expect(outcomes.at(-1)).toBe("the schema would have 6 classes, at most 5 are allowed (SCHEMA_CLASSES_MAX)");
    expect(asked).toBe(2);
    expect(iterations).toBeGreaterThan(1_000);
  });

  it("runs into its time-out while it is planned", async () => {
    let now = 0;
    const setup = setUp({ autoSchema: {}, nowMs: () => now++ });
    const inputs = Array.from({ length: 1_000 }, (_, i) => withProperties("Thing", { a: i }));
    const refused = refusal(setup.ingest.importObjects(inputs, { deadline: 1_500 }));
    expect(await refused).toMatch(/^deadlineExceeded: /);
    expect(setup.cluster.schemaChanges).toBe(0);
  });

  it("ends when its client is gone", async () => {
    const setup = setUp({ autoSchema: {}, limits: { stepMsMax: 0 } });
    const gone = new AbortController();
    gone.abort(new ShoalError("deadlineExceeded", "the client is gone"));
    const inputs = [withProperties("Thing", { a: 1 })];
    const context = { ...setup.context, signal: gone.signal };
    expect(await refusal(setup.ingest.importObjects(inputs, context))).toBe("deadlineExceeded: the client is gone");
    expect(setup.cluster.schemaChanges).toBe(0);
  });
});

describe("imports at the same time", () => {
  it("of one unseen class make it once and lose no object", async () => {
    const setup = setUp({ autoSchema: {}, shards: 2, nodes: 2 });
    const { ingest, cluster, context } = setup;
    const works: Promise<unknown>[] = [];
    for (let i = 0; i < 40; i++) {
      const properties = { name: `n${i}`, [`p${i % 4}`]: i };
      works.push(ingest.createObject(withProperties("thing", properties, { id: idOf(i) }), context));
      const more = [0, 1, 2].map((k) => withProperties("Thing", properties, { id: idOf(1_000 + i * 3 + k) }));
      works.push(batch(setup, more).then((outcomes) => expect(outcomes).toEqual(["stored", "stored", "stored"])));
    }
    await Promise.all(works);
    expect(cluster.snapshot.classes.filter(({ definition }) => definition.class === "Thing")).toHaveLength(1);
    expect(Object.keys(typesOf(setup, "Thing")).sort()).toEqual(["name", "p0", "p1", "p2", "p3"]);
    for (let i = 0; i < 40; i++)
      expect(cluster.row("Thing", idOf(i))?.object.properties).toMatchObject({ name: `n${i}` });
    for (let i = 0; i < 120; i++) expect(cluster.row("Thing", idOf(1_000 + i))).toBeDefined();
    expect(cluster.schemaChanges).toBeLessThanOrEqual(4);
  });

  it("that infer different types: one wins, the other gets the ordinary error and adds nothing", async () => {
    const setup = setUp({ autoSchema: {} });
    const { ingest, context } = setup;
    const create = (properties: object) => refusal(ingest.createObject(withProperties("Thing", properties), context));
    const outcomes = await Promise.all([create({ a: "text", b: 1 }), create({ a: 1, c: 1 }), create({ a: [1], d: 1 })]);
    expect(outcomes[0]).toBe("accepted");
    expect(outcomes.slice(1)).toEqual([
      "invalid: invalid object: invalid text property 'a' on class 'Thing': not a string, but the number 1",
      "invalid: invalid object: invalid text property 'a' on class 'Thing': not a string, but a list",
    ]);
    expect(typesOf(setup, "Thing")).toEqual({ a: ["text"], b: ["number"] });
  });

  it("go on when the class is deleted and created again in between", async () => {
    const setup = setUp({ autoSchema: {} });
    const { cluster, ingest, context } = setup;
    let deletions = 0;
    cluster.beforeEnsure = async () => {
      if (deletions++ < 2) cluster.deleteClass("Car");
    };
    await ingest.createObject(withProperties("Car", { name: "a", news: 1 }, { id: idOf(1) }), context);
    expect(typesOf(setup, "Car")).toEqual({ name: ["text"], news: ["number"] });
    expect(cluster.row("Car", idOf(1))).toBeDefined();
  });

  it("look again when a class of the name was made and deleted since they looked", async () => {
    const setup = setUp({ autoSchema: {} });
    const { cluster, ingest, context } = setup;
    let attempts = 0;
    cluster.beforeEnsure = async () => {
      if (attempts++ > 0) return;
      cluster.addClass({ class: "Thing" });
      cluster.deleteClass("Thing");
    };
    await ingest.createObject(withProperties("Thing", { news: 1 }, { id: idOf(1) }), context);
    expect(attempts).toBe(2);
    expect(typesOf(setup, "Thing")).toEqual({ news: ["number"] });
  });

  it("give up when the schema never stands still", async () => {
    const setup = setUp({ autoSchema: {} });
    const { cluster, ingest, context } = setup;
    let attempts = 0;
    cluster.beforeEnsure = async () => {
      attempts++;
      cluster.addClass({ class: `Restless${attempts}` });
      throw new ShoalError("conflict", "again");
    };
    expect(await refusal(ingest.createObject(withProperties("Car", { more: 1 }), context))).toBe("conflict: again");
    expect(attempts).toBe(20);
  });

  it(`in any order and mixture leave a schema that fits everything that is stored, seed ${SEED}`, async () => {
    for (let round = 0; round < 60; round++) {
      const random = seededRandom(SEED + round).below;
      const setup = setUp({ autoSchema: {}, shards: 2 });
      const { cluster, ingest, context } = setup;
      cluster.beforeEnsure = async () => {
        for (let iterations = random(4); iterations > 0; iterations--) await Promise.resolve();
      };
      const value = () => [random(9), `t${random(9)}`, [random(9)], random(2) === 0, null, [], { a: 1 }][random(7)];
      const make = (): ObjectInput => {
        const names = Array.from({ length: random(4) }, () => `p${random(3)}`);
        const properties = Object.fromEntries(names.map((name) => [name, value()]));
        return withProperties(["Thing", "other", "Car"][random(3)] ?? "Car", properties, { id: idOf(random(1e6)) });
      };
      const stored: { input: ObjectInput; properties: unknown }[] = [];
      const single = async (object: ObjectInput) => {
        const written = await ingest.createObject(object, context).catch((error: ShoalError) => error.code);
        if (typeof written === "object") stored.push({ input: object, properties: written.object.properties });
        else expect(written).toBe("invalid");
      };
      const several = async (objects: readonly ObjectInput[]) => {
        for (const [at, outcome] of (await ingest.importObjects(objects, context)).entries()) {
          const object = objects[at];
          if ("written" in outcome && object)
            stored.push({ input: object, properties: outcome.written.object.properties });
        }
      };
      const works = Array.from({ length: 12 }, () =>
        random(2) === 0 ? single(make()) : several(Array.from({ length: 1 + random(4) }, make)),
      );
      await Promise.all(works);
      const fits: Record<string, (one: unknown) => boolean> = {
        number: (one) => typeof one === "number",
        text: (one) => typeof one === "string",
        boolean: (one) => typeof one === "boolean",
        "number[]": (one) => Array.isArray(one),
      };
      const used = new Set<string>();
      for (const { input: sent, properties } of stored) {
        const className = sent.className === "other" ? "Other" : (sent.className ?? "");
        for (const [name, one] of Object.entries(properties as object)) {
          const [type = ""] = typesOf(setup, className)[name] ?? [];
          expect(fits[type]?.(one), `${className}.${name} is ${type}`).toBe(true);
          used.add(`${className}.${name}`);
        }
        for (const [name, one] of Object.entries(sent.properties as object)) {
          if (one !== null && !(Array.isArray(one) && one.length === 0)) expect(properties).toHaveProperty(name);
        }
      }
      for (const { definition } of cluster.snapshot.classes) {
        for (const { name, description } of definition.properties ?? []) {
          if (description === "Auto generated property") expect([...used]).toContain(`${definition.class}.${name}`);
        }
      }
    }
  });
});
