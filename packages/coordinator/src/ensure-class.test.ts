import { MemoryStore } from "@shoal/kv/testing/memory-store";
import { type ClassDefinition, type PropertyDefinition, ShoalError } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import { describe, expect, test } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { Ledger } from "./ledger.js";
import type { MetaStore } from "./meta-store.js";
import { SchemaCoordinator } from "./schema-coordinator.js";
import { confirmingHolders } from "./testing/confirming-holders.js";
import { deleteClass } from "./testing/delete-class.js";

const context = { deadline: Number.POSITIVE_INFINITY };

function definition(name: string, properties: readonly PropertyDefinition[] = []): ClassDefinition {
  return { class: name, properties } as unknown as ClassDefinition;
}

function property(name: string, ...dataType: string[]): PropertyDefinition {
  return { name, dataType };
}

async function open(meta?: MetaStore, shardsMax = 3, checkRoom?: (shards: number) => void): Promise<SchemaCoordinator> {
  let ids = 0;
  const store = meta ?? (await EmbeddedMetaStore.open(new MemoryStore(), () => "history"));
  const ledger = await Ledger.open(store, Date.now);
  confirmingHolders(ledger);
  return new SchemaCoordinator({
    ledger,
    expectedStorageNodes: 0,
    createSharding: () => ({ shards: [{ name: "s", members: ["n"] }], virtualShards: ["v"], assignments: [0] }),
    newClassId: () => `id${++ids}`,
    limits: { classesMax: 3, propertiesPerClassMax: 4 },
    shardLimit: { max: shardsMax, reason: "SCHEMA_SHARDS_MAX" },
    checkRoom,
  });
}

async function versionOf(coordinator: SchemaCoordinator): Promise<number> {
  return (await coordinator.current(context)).version;
}

/** The class with these properties, as auto-schema gets it: made, or there and extended. */
async function ensure(coordinator: SchemaCoordinator, wanted: ClassDefinition): Promise<ClassRecord> {
  const { record, isMade } = await coordinator.ensureClass(wanted, context);
  if (isMade) return record;
  const { properties } = wanted;
  return (await coordinator.ensureProperties(wanted.class, record.classId, properties ?? [], context)).record;
}

describe("ensureClass", () => {
  test("many at once create a class once, with the properties of all of them, one change each at most", async () => {
    const coordinator = await open();
    const wanted = [
      definition("Car", [property("a", "text")]),
      definition("Car", [property("a", "text"), property("b", "int")]),
      definition("Car", [property("b", "int")]),
      definition("Car", [property("a", "text"), property("b", "int")]),
    ];
    const records = await Promise.all(wanted.map((one) => ensure(coordinator, one)));
    expect(new Set(records.map(({ classId }) => classId)).size).toBe(1);
    const { version, classes } = await coordinator.current(context);
    expect(version).toBe(2);
    expect(classes[0]?.definition.properties).toEqual([property("a", "text"), property("b", "int")]);
    for (const [at, record] of records.entries()) {
      expect(record.definition.properties).toEqual(expect.arrayContaining([...(wanted[at]?.properties ?? [])]));
    }
  });

  test("changes of one process never make each other's commits fail", async () => {
    const meta = await EmbeddedMetaStore.open(new MemoryStore(), () => "history");
    const coordinator = await open(meta);
    let failed = 0;
    const commit = meta.commit.bind(meta);
    meta.commit = async (...change) => {
      const revision = await commit(...change);
      if (revision === undefined) failed++;
      return revision;
    };
    const works = Array.from({ length: 40 }, (_, at) =>
      ensure(coordinator, definition(`C${at % 3}`, [property(`p${at % 4}`, "int")])),
    );
    await Promise.all(works);
    expect(failed).toBe(0);
    const { version, classes } = await coordinator.current(context);
    expect(classes).toHaveLength(3);
    expect(version).toBe(12);
  });

  test("a refused change, and one whose caller is gone, do not hold up the next", async () => {
    const coordinator = await open();
    const gone = new AbortController();
    gone.abort(new Error("gone"));
    const outcomes = await Promise.allSettled([
      coordinator.ensureClass(definition("Car", [property("id", "int")]), context),
      coordinator.ensureClass(definition("Bus"), { ...context, signal: gone.signal }),
      coordinator.ensureClass(definition("Car"), context),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled"]);
    expect((await coordinator.current(context)).classes).toHaveLength(1);
  });

  test("leaves an existing class as it is, and says that it has not made it", async () => {
    const coordinator = await open();
    const made = await coordinator.addClass(definition("Car", [property("b", "int")]), context);
    const { version } = await coordinator.current(context);
    const wanted = { ...definition("Car", [property("a", "text")]), description: "Auto generated class" };
    expect(await coordinator.ensureClass(wanted, context)).toEqual({ record: made, isMade: false });
    expect(await versionOf(coordinator)).toBe(version);
  });

  test("of many at once one has made it", async () => {
    const coordinator = await open();
    const results = await Promise.all(
      Array.from({ length: 5 }, () => coordinator.ensureClass(definition("Car"), context)),
    );
    expect(results.map(({ isMade }) => isMade)).toEqual([true, false, false, false, false]);
  });

  test("knows its own class when the request comes again, until that is settled, also after a restart", async () => {
    const meta = await EmbeddedMetaStore.open(new MemoryStore(), () => "history");
    const first = await open(meta);
    const mine = { ...context, changeId: "mine" };
    const made = await first.ensureClass(definition("Car"), mine);
    expect(made.isMade).toBe(true);
    const second = await open(meta);
    expect(await second.ensureClass(definition("Car"), mine)).toEqual(made);
    expect((await second.ensureClass(definition("Car"), { ...context, changeId: "other" })).isMade).toBe(false);
    await second.settle("mine", context);
    expect((await second.ensureClass(definition("Car"), mine)).isMade).toBe(false);
  });
});

describe("ensureProperties", () => {
  test("adds what is missing in one change and keeps what is there", async () => {
    const coordinator = await open();
    const { classId } = await coordinator.addClass(definition("Car", [property("a", "text")]), context);
    const described = { ...property("a", "text"), description: "another" };
    await coordinator.ensureProperties(
      "Car",
      classId,
      [property("b", "int"), described, property("c", "Car")],
      context,
    );
    const { version, classes } = await coordinator.current(context);
    expect(version).toBe(2);
    expect(classes[0]?.definition.properties).toEqual([
      property("a", "text"),
      property("b", "int"),
      property("c", "Car"),
    ]);
    await coordinator.ensureProperties("Car", classId, [property("c", "Car")], context);
    expect(await versionOf(coordinator)).toBe(2);
  });

  test("says which ones it has added, each to the one who did, also when his request comes again", async () => {
    const coordinator = await open();
    const { classId } = await coordinator.addClass(definition("Car", [property("a", "text")]), context);
    const add = (changeId: string, ...names: readonly string[]) => {
      const properties = names.map((name) => property(name, "text"));
      return coordinator.ensureProperties("Car", classId, properties, { ...context, changeId });
    };
    expect((await add("first", "a", "b")).added).toEqual(["b"]);
    expect((await add("second", "b", "c")).added).toEqual(["c"]);
    expect((await add("third", "a", "b")).added).toEqual([]);
    const { version } = await coordinator.current(context);
    expect((await add("first", "a", "b")).added).toEqual(["b"]);
    expect(await versionOf(coordinator)).toBe(version);
    await coordinator.settle("first", context);
    expect((await add("first", "a", "b")).added).toEqual([]);
  });

  test("of two who infer different types the second is refused, and nothing of his is left", async () => {
    const coordinator = await open();
    const { classId } = await coordinator.addClass(definition("Car"), context);
    const outcomes = await Promise.allSettled([
      coordinator.ensureProperties("Car", classId, [property("a", "text")], context),
      coordinator.ensureProperties("Car", classId, [property("b", "int"), property("a", "number")], context),
    ]);
    expect(outcomes[0]).toMatchObject({ status: "fulfilled" });
    expect(outcomes[1]).toMatchObject({
      reason: { code: "conflict", message: "property 'a' of class 'Car' has the data type [text], not [number]" },
    });
    const { classes } = await coordinator.current(context);
    expect(classes[0]?.definition.properties).toEqual([property("a", "text")]);
  });

  test("refuses a class of another id, names, types, GraphQL collisions", async () => {
    const coordinator = await open();
    const old = await coordinator.addClass(definition("Car"), context);
    await deleteClass(coordinator, "Car", context);
    await expect(coordinator.ensureProperties("Car", old.classId, [], context)).rejects.toMatchObject({
      code: "notFound",
      message: "could not find class 'Car'",
    });
    const { classId } = await coordinator.addClass(definition("Car"), context);
    const add = (...properties: PropertyDefinition[]) =>
      coordinator.ensureProperties("Car", classId, properties, context);
    await expect(add(property("a", "text"), property("some-prop", "text"))).rejects.toThrow(
      "'some-prop' is not a valid",
    );
    await expect(add(property("id", "text"))).rejects.toThrow("'id' is a reserved property name");
    await expect(add(property("a", "Bus"))).rejects.toMatchObject({
      code: "invalid",
      message:
        "Data type of property 'a' is invalid; could not find class 'Bus' in the schema: create it with POST /v1/schema first",
    });
    await expect(add(property("a", "text"), property("aTopOccurrences", "text"))).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("'AggregateCaraTopOccurrencesObj'"),
    });
    expect((await coordinator.current(context)).classes[0]?.definition.properties).toEqual([]);
  });
});

describe("the limits of the schema", () => {
  test("hold for classes, however they come", async () => {
    const coordinator = await open();
    for (const name of ["A", "B", "C"]) await coordinator.addClass(definition(name), context);
    const message = "the schema would have 4 classes, at most 3 are allowed (SCHEMA_CLASSES_MAX)";
    await expect(coordinator.addClass(definition("D"), context)).rejects.toMatchObject({ code: "invalid", message });
    await expect(coordinator.ensureClass(definition("D"), context)).rejects.toMatchObject({ code: "invalid", message });
    await ensure(coordinator, definition("C", [property("a", "int")]));
    await deleteClass(coordinator, "A", context);
    await coordinator.ensureClass(definition("D"), context);
  });

  test("hold for shards, however classes come; those of deleted classes do not count", async () => {
    const coordinator = await open(undefined, 2);
    for (const name of ["A", "B"]) await coordinator.addClass(definition(name), context);
    const message = "the schema would have 3 shards, at most 2 are allowed (SCHEMA_SHARDS_MAX)";
    await expect(coordinator.addClass(definition("C"), context)).rejects.toMatchObject({ code: "invalid", message });
    await expect(coordinator.ensureClass(definition("C"), context)).rejects.toMatchObject({ code: "invalid", message });
    await ensure(coordinator, definition("B", [property("a", "int")]));
    await deleteClass(coordinator, "A", context);
    await coordinator.ensureClass(definition("C"), context);
  });

  test("hold for memory: no class is made without room for its shards, and one that is there is no new one", async () => {
    let room = 1;
    const coordinator = await open(undefined, 3, (shards) => {
      if (shards > room) throw new ShoalError("overloaded", "no room");
    });
    await coordinator.addClass(definition("A"), context);
    room = 0;
    const refused = { code: "overloaded", message: "no room" };
    const { version } = await coordinator.current(context);
    await expect(coordinator.addClass(definition("B"), context)).rejects.toMatchObject(refused);
    await expect(coordinator.ensureClass(definition("B"), context)).rejects.toMatchObject(refused);
    expect(await versionOf(coordinator)).toBe(version);
    await ensure(coordinator, definition("A", [property("a", "int")]));
    room = 1;
    await coordinator.addClass(definition("B"), context);
  });

  test("leave a schema as it is that has more shards already", async () => {
    const meta = await EmbeddedMetaStore.open(new MemoryStore(), () => "history");
    const before = await open(meta);
    for (const name of ["A", "B"]) await before.addClass(definition(name), context);
    const coordinator = await open(meta, 1);
    expect((await coordinator.current(context)).classes).toHaveLength(2);
    await coordinator.addProperty("A", property("a", "int"), context);
  });

  test("hold for properties, however they come", async () => {
    const coordinator = await open();
    const four = ["a", "b", "c", "d"].map((name) => property(name, "int"));
    const message = "class 'Car' would have 5 properties, at most 4 are allowed (SCHEMA_CLASS_PROPERTIES_MAX)";
    const five = definition("Car", [...four, property("e", "int")]);
    await expect(coordinator.addClass(five, context)).rejects.toMatchObject({ code: "invalid", message });
    await expect(coordinator.ensureClass(five, context)).rejects.toMatchObject({ code: "invalid", message });
    const { classId } = await coordinator.addClass(definition("Car", four), context);
    await expect(coordinator.addProperty("Car", property("e", "int"), context)).rejects.toMatchObject({ message });
    await expect(coordinator.ensureProperties("Car", classId, [property("e", "int")], context)).rejects.toMatchObject({
      message,
    });
    await coordinator.ensureProperties("Car", classId, four, context);
  });
});
