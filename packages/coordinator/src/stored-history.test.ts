import { type ClassDefinition, ShoalError } from "@shoal/model";
import { goesOnFrom, type SchemaPosition, type SchemaSnapshot } from "@shoal/rpc";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { Ledger } from "./ledger.js";
import { type MetaChange, type MetaState, type MetaStore, stateAfter } from "./meta-store.js";
import { SchemaCoordinator } from "./schema-coordinator.js";
import { StoredExtensions } from "./stored-extensions.js";

const context = { deadline: Number.POSITIVE_INFINITY };

/** A store that can be put back to any earlier state, and may take no writes. */
class PutBackStore implements MetaStore {
  readonly historyId = "store";
  state: MetaState = { revision: 0, entries: new Map() };
  isFull = false;
  readonly #listeners = new Set<(state: MetaState) => void>();

  async load(): Promise<MetaState> {
    return this.state;
  }

  async commit(expectedRevision: number, changes: readonly MetaChange[]): Promise<number | undefined> {
    if (this.isFull) throw new ShoalError("unavailable", "the disk is full");
    if (expectedRevision !== this.state.revision) return undefined;
    this.state = stateAfter(this.state, changes);
    for (const listener of this.#listeners) listener(this.state);
    return this.state.revision;
  }

  watch(listener: (state: MetaState) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

async function openOn(store: MetaStore): Promise<{ schema: SchemaCoordinator; extensions: StoredExtensions }> {
  const ledger = await Ledger.open(store, Date.now);
  const schema = new SchemaCoordinator({
    ledger,
    expectedStorageNodes: 0,
    createSharding: () => ({ shards: [], virtualShards: [], assignments: [] }),
    newClassId: () => "id",
    limits: { classesMax: 1_000, propertiesPerClassMax: 10 },
    shardLimit: { max: 100, reason: "SCHEMA_SHARDS_MAX" },
  });
  return { schema, extensions: new StoredExtensions(ledger) };
}

function definition(name: string): ClassDefinition {
  return { class: name, properties: [] } as unknown as ClassDefinition;
}

const keyOf = ({ historyId, version }: SchemaPosition): string => `${historyId}@${version}`;

describe("histories of the schema", () => {
  const seed = Number(process.env.HISTORY_SEED) || 21;
  test(`tell what was lost from what goes on, whatever is started and put back, seed ${seed}`, async () => {
    const { below } = seededRandom(seed);
    const store = new PutBackStore();
    const seen = new Map<string, SchemaPosition>();
    let line = new Set<string>();
    const backups: { readonly state: MetaState; readonly line: ReadonlySet<string> }[] = [];
    let coordinators: SchemaCoordinator[] = [];
    let histories = 0;
    let classes = 0;
    let lost = 0;
    const start = async () => {
      const { schema } = await openOn(store);
      await schema.begin(`h${++histories}`, context);
      coordinators.push(schema);
    };
    await start();
    for (let step = 0; step < 400; step++) {
      const action = below(10);
      const backup = backups[below(backups.length)];
      if (action === 0) await start();
      else if (action === 1) backups.push({ state: store.state, line: new Set(line) });
      else if (action === 2 && backup !== undefined) {
        store.state = backup.state;
        line = new Set(backup.line);
        coordinators = [];
        await start();
      } else await coordinators[below(coordinators.length)]?.addClass(definition(`C${++classes}`), context);
      const [snapshot, ...others] = await Promise.all(coordinators.map((one) => one.current(context)));
      if (snapshot === undefined) throw new Error("nobody runs");
      for (const other of others) expect(keyOf(other)).toBe(keyOf(snapshot));
      line.add(keyOf(snapshot));
      seen.set(keyOf(snapshot), snapshot);
      for (const [key, position] of seen) {
        expect(goesOnFrom(snapshot, position), `step ${step}: ${keyOf(snapshot)} from ${key}`).toBe(line.has(key));
        if (!line.has(key)) lost++;
      }
    }
    expect([histories > 40, lost > 1_000]).toEqual([true, true]);
  });

  test("are few in number: an older one is a stranger", async () => {
    const store = new PutBackStore();
    const { schema } = await openOn(store);
    const first = await schema.current(context);
    for (let start = 0; start < 257; start++) await schema.begin(`h${start}`, context);
    const last = await schema.current(context);
    expect(last.former).toHaveLength(256);
    expect(last.former?.[0]?.historyId).toBe("h0");
    expect(goesOnFrom(last, first)).toBe(false);
    expect(goesOnFrom(last, { historyId: "h0", version: 1 })).toBe(true);
  });

  test("begin with the first change when the store takes none at the start", async () => {
    const store = new PutBackStore();
    const { schema, extensions } = await openOn(store);
    const reported: SchemaSnapshot[] = [];
    schema.watch((snapshot) => reported.push(snapshot));
    store.isFull = true;
    await expect(schema.begin("h1", context)).rejects.toMatchObject({ code: "unavailable" });
    await expect(schema.addClass(definition("A"), context)).rejects.toMatchObject({ code: "unavailable" });
    expect((await schema.current(context)).historyId).toBe("store");
    store.isFull = false;
    await Promise.all(["A", "B", "C"].map((name) => schema.addClass(definition(name), context)));
    expect(reported.map(({ historyId, version }) => [historyId, version])).toEqual([
      ["store", 0],
      ["h1", 1],
      ["h1", 2],
      ["h1", 3],
    ]);
    expect(reported.at(-1)?.former).toEqual([{ historyId: "store", upTo: 0 }]);
    expect((await extensions.current(context)).historyId).toBe("h1");
  });
});
