import { MemoryStore } from "@shoal/kv/testing/memory-store";
import type { ClassDefinition } from "@shoal/model";
import type { SchemaSnapshot } from "@shoal/rpc";
import { describe, expect, test } from "vitest";
import { EmbeddedMetaStore } from "./embedded-meta-store.js";
import { Ledger } from "./ledger.js";
import { type MetaChange, type MetaState, type MetaStore, stateAfter } from "./meta-store.js";
import { SchemaCoordinator } from "./schema-coordinator.js";
import { confirmingHolders } from "./testing/confirming-holders.js";
import { deleteClass } from "./testing/delete-class.js";

let histories = 0;
const newHistoryId = () => `history${++histories}`;

const context = { deadline: Number.POSITIVE_INFINITY };

function definition(name: string, properties: ClassDefinition["properties"] = []): ClassDefinition {
  return { class: name, properties } as ClassDefinition;
}

async function openOn(store: MetaStore): Promise<SchemaCoordinator> {
  let ids = 0;
  const ledger = await Ledger.open(store, Date.now);
  confirmingHolders(ledger);
  return new SchemaCoordinator({
    ledger,
    expectedStorageNodes: 0,
    createSharding: ({ class: name }) => ({
      shards: [{ name: `${name}0`, members: ["n1"] }],
      virtualShards: ["v"],
      assignments: [0],
    }),
    newClassId: () => `id${++ids}`,
    limits: { classesMax: 25, propertiesPerClassMax: 12 },
    shardLimit: { max: 100, reason: "SCHEMA_SHARDS_MAX" },
  });
}

/** MetaStore whose content outlives the coordinator, shared by several of them. */
class SharedMeta implements MetaStore {
  readonly historyId = "shared";
  #state: MetaState = { revision: 0, entries: new Map() };
  readonly #listeners = new Set<(state: MetaState) => void>();

  get revision(): number {
    return this.#state.revision;
  }

  async load(): Promise<MetaState> {
    return this.#state;
  }

  async commit(expectedRevision: number, changes: readonly MetaChange[]): Promise<number | undefined> {
    await Promise.resolve();
    if (expectedRevision !== this.#state.revision) return undefined;
    this.#state = stateAfter(this.#state, structuredClone(changes) as readonly MetaChange[]);
    for (const listener of this.#listeners) listener(this.#state);
    return this.#state.revision;
  }

  watch(listener: (state: MetaState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

const names = (snapshot: SchemaSnapshot) => snapshot.classes.map((record) => record.definition.class);

describe("SchemaCoordinator", () => {
  test("U1: the schema grows to 16 Mi characters, by no change beyond them; what is larger already may shrink", async () => {
    const meta = new SharedMeta();
    const coordinator = await openOn(meta);
    const chars = 6 * 1024 * 1024;
    const large = (name: string, size: number) => ({ ...definition(name), description: "x".repeat(size) });
    await coordinator.addClass(large("Ape", chars), context);
    await coordinator.addClass(large("Bee", chars), context);
    const refused =
      /^the schema would have 18874\d\d\d characters as JSON, at most 16777216 are allowed; class 'Cat' would have 6291\d\d\d of them: /;
    await expect(coordinator.addClass(large("Cat", chars), context)).rejects.toThrow(refused);
    await expect(coordinator.ensureClass(large("Cat", chars), context)).rejects.toThrow(refused);
    const { classId } = await coordinator.addClass(definition("Cat"), context);
    const long = { name: "p", dataType: ["text"], moduleConfig: { m: { x: "x".repeat(chars) } } };
    await expect(coordinator.addProperty("Cat", long, context)).rejects.toThrow(/at most 16777216 are allowed/);
    await expect(coordinator.ensureProperties("Cat", classId, [long], context)).rejects.toThrow(/at most 16777216/);
    const { version } = await coordinator.current(context);
    await expect(coordinator.updateClass(large("Ape", 2 * chars), version, context)).rejects.toThrow(
      /at most 16777216/,
    );

    // From before there was a limit.
    const older = (await meta.load()).entries.get("class/Ape") as unknown as {
      record: { definition: ClassDefinition };
    };
    const grown = { ...older, record: { ...older.record, definition: large("Ape", 4 * chars) } };
    await meta.commit(meta.revision, [{ key: "class/Ape", value: grown as unknown as MetaChange["value"] }]);
    const reopened = await openOn(meta);
    await expect(reopened.addClass(definition("Dog"), context)).rejects.toThrow(/at most 16777216 are allowed/);
    await reopened.updateClass(large("Ape", 3 * chars), version, context);
    expect(names(await reopened.current(context))).toEqual(["Ape", "Bee", "Cat"]);
  });

  test("adds, extends, replaces and deletes classes; watchers see each version once and in order", async () => {
    const coordinator = await openOn(await EmbeddedMetaStore.open(new MemoryStore(), newHistoryId));
    const seen: SchemaSnapshot[] = [];
    const subscription = coordinator.watch((snapshot) => seen.push(snapshot));
    await coordinator.addClass(definition("Zebra"), context);
    await coordinator.addClass(definition("Ape"), context);
    await coordinator.addProperty("Zebra", { name: "stripes", dataType: ["int"] }, context);
    const { version } = await coordinator.current(context);
    await coordinator.updateClass({ ...definition("Ape"), description: "new" }, version, context);
    await deleteClass(coordinator, "Zebra", context);
    subscription[Symbol.dispose]();
    await coordinator.addClass(definition("Late"), context);
    expect(seen.map((snapshot) => snapshot.version)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(seen.map(names)).toEqual([[], ["Zebra"], ["Zebra", "Ape"], ["Zebra", "Ape"], ["Zebra", "Ape"], ["Ape"]]);
    expect(seen[3]?.classes[0]?.definition.properties).toEqual([{ name: "stripes", dataType: ["int"] }]);
    expect(seen[4]?.classes[1]?.definition.description).toBe("new");
  });

  test("refuses doubles, unknown classes and outdated changes, and changes nothing then", async () => {
    const coordinator = await openOn(await EmbeddedMetaStore.open(new MemoryStore(), newHistoryId));
    await coordinator.addClass(definition("Cat", [{ name: "name", dataType: ["text"] }]), context);
    const before = await coordinator.current(context);
    await expect(coordinator.addClass(definition("CAT"), context)).rejects.toMatchObject({
      code: "invalid",
      message: "Name 'CAT' already used as a name for an Object class: 'Cat' differs only in case",
    });
    await expect(coordinator.addProperty("Cat", { name: "name", dataType: ["int"] }, context)).rejects.toMatchObject({
      code: "invalid",
      message: "Name 'name' already in use as a property name for class 'Cat'",
    });
    await expect(deleteClass(coordinator, "Dog", context)).rejects.toMatchObject({
      code: "notFound",
      message: "could not find class 'Dog'",
    });
    await expect(coordinator.updateClass(definition("Cat"), before.version - 1, context)).rejects.toMatchObject({
      code: "conflict",
    });
    await expect(coordinator.addClass(definition("CatAdditional"), context)).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("CatAdditional"),
    });
    expect(await coordinator.current(context)).toBe(before);
  });

  test("the first dimension holds, also when two writers race for it and after reopening", async () => {
    const store = new MemoryStore();
    const coordinator = await openOn(await EmbeddedMetaStore.open(store, newHistoryId));
    const { classId } = await coordinator.addClass(definition("Word"), context);
    const fixed = await Promise.all([3, 4, 5].map((size) => coordinator.fixDimensions("Word", classId, size, context)));
    expect(new Set(fixed).size).toBe(1);
    const reopened = await openOn(await EmbeddedMetaStore.open(store, newHistoryId));
    expect(await reopened.fixDimensions("Word", classId, 9, context)).toBe(fixed[0]);
    expect(await reopened.current(context)).toEqual(await coordinator.current(context));
    await deleteClass(reopened, "Word", context);
    await expect(reopened.fixDimensions("Word", classId, 9, context)).rejects.toMatchObject({ code: "notFound" });
  });

  test("several coordinators on one store make one linear history", async () => {
    const meta = new SharedMeta();
    const coordinators = await Promise.all([1, 2, 3, 4].map(() => openOn(meta)));
    const histories = coordinators.map((coordinator) => {
      const versions: number[] = [];
      coordinator.watch(({ version }) => versions.push(version));
      return versions;
    });
    await Promise.all(
      coordinators.flatMap((coordinator, c) =>
        [0, 1, 2, 3, 4].map((i) => coordinator.addClass(definition(`C${c}x${i}`), context)),
      ),
    );
    const clash = await Promise.allSettled(coordinators.map((one) => one.addClass(definition("Same"), context)));
    expect(clash.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(meta.revision).toBe(21);
    for (const versions of histories) expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
    const fresh = await (await openOn(meta)).current(context);
    expect(names(fresh)).toHaveLength(21);
  });
});
