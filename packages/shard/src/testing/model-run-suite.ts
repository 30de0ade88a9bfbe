import {
  type JsonObject,
  type ObjectId,
  type ObjectMerge,
  type PutMode,
  ShoalError,
  type StoredObject,
} from "@shoal/model";
import type { SeededRandom } from "@shoal/seeded-random";
import { expect } from "vitest";
import type { Shard } from "../shard.js";
import { cosineDistance } from "./brute-force-index-suite.js";
import { checkFilters } from "./check-filters-suite.js";
import { ALL_FIELDS, book, idOf, PROPERTIES, propertiesOf } from "./shard-under-test-suite.js";

const IDS = 40;
/** Not one of the model's. */
export const OTHER = idOf(9_999);
const DIMENSIONS = 3;
/** `objectBytesMax` of the shard; reference lists reach it now and then. */
export const OBJECT_BYTES_MAX = 500;

interface Expected {
  properties: Record<string, unknown>;
  vector: Float32Array | undefined;
  created: number;
  updated: number;
}

type Oracle = Map<ObjectId, Expected>;

/** Applies one random operation to shard and oracle. A write that fails leaves the oracle undecided between two states. */
export class ModelRun {
  oracle: Oracle = new Map();
  /** States that the shard may be in instead, after writes of unknown outcome. */
  undecided: Oracle[] = [];

  constructor(
    readonly random: SeededRandom,
    readonly under: { nowUnix: number },
  ) {}

  id(): ObjectId {
    return idOf(this.random.below(IDS));
  }

  vector(): number[] | undefined {
    // Few values: many ties, and many puts that do not change the vector.
    if (this.random.below(8) === 0) return undefined;
    return Array.from({ length: DIMENSIONS }, () => this.random.below(3) + 1);
  }

  async write(shard: Shard): Promise<void> {
    this.under.nowUnix += this.random.oneIn(20) ? this.random.below(400) - 200 : this.random.below(3);
    const next: Oracle = new Map(Array.from(this.oracle, ([id, value]) => [id, { ...value }]));
    try {
      await this.#change(shard, next);
      this.oracle = next;
    } catch (error) {
      if (!(error instanceof ShoalError) || error.code !== "unavailable") throw error;
      this.undecided.push(next);
    }
  }

  async #change(shard: Shard, next: Oracle): Promise<void> {
    const now = this.under.nowUnix;
    switch (this.random.below(6)) {
      case 5:
        return this.#mergeMany(shard, next, now);
      case 0:
      case 1: {
        const mode = this.random.pick<PutMode>(["create", "replace", "upsert"]);
        const objects = Array.from({ length: this.random.below(6) + 1 }, (_, at) =>
          book(this.id(), this.vector(), { n: this.random.below(1000), at, ...this.#text() }),
        );
        const failures = objects.map(({ id, properties = {}, vector }) => {
          const before = next.get(id);
          if (rowBytes(properties, vector) > OBJECT_BYTES_MAX) return "tooLarge";
          if (mode === "create" && before !== undefined) return "conflict";
          if (mode === "replace" && before === undefined) return "notFound";
          const created = mode === "replace" ? (before?.created ?? now) : now;
          next.set(id, { properties: { ...properties }, vector, created, updated: now });
          return undefined;
        });
        const outcomes = await shard.putObjects(objects, mode);
        expect(outcomes.map((one) => (one instanceof ShoalError ? one.code : undefined))).toEqual(failures);
        return;
      }
      case 2: {
        const id = this.id();
        const before = next.get(id);
        const vector = this.random.below(2) === 0 ? this.vector() : undefined;
        const merge = this.#merge(id, vector === undefined ? undefined : Float32Array.from(vector));
        const refused = before === undefined ? "notFound" : applyMerge(before, merge, now);
        const merged = await shard.mergeObject(merge).catch((error: ShoalError) => {
          if (error.code === "unavailable") throw error;
          return error.code;
        });
        if (refused !== undefined || typeof merged === "string") expect(merged).toBe(refused);
        else expectObject(merged, before);
        return;
      }
      default: {
        const id = this.id();
        const there = next.delete(id);
        expect(await shard.deleteObject(id)).toBe(there);
      }
    }
  }

  /** Merges of few objects, some of them several times, in one call. */
  async #mergeMany(shard: Shard, next: Oracle, now: number): Promise<void> {
    const merges = Array.from({ length: this.random.below(6) + 1 }, () => this.#merge(this.id(), undefined));
    const expected = merges.map((merge) => {
      const before = next.get(merge.id);
      if (before === undefined) return "notFound";
      const refused = applyMerge(before, merge, now);
      if (refused !== undefined) return refused;
      return { creationTimeUnix: before.created, lastUpdateTimeUnix: now };
    });
    const outcomes = await shard.mergeObjects(merges);
    expect(outcomes.map((one) => (one instanceof ShoalError ? one.code : one))).toEqual(expected);
  }

  #merge(id: ObjectId, vector: Float32Array | undefined): ObjectMerge {
    const references = (count: number) => Array.from({ length: this.random.below(count) }, () => this.target());
    const append = references(4).map((target) => ({
      beacon: `${this.random.pick(["svc", "x"])}://localhost/${target}`,
    }));
    const remove = this.random.below(2) === 0 ? {} : { list: references(3) };
    const ifEmpty =
      this.random.below(4) === 0 ? { ifEmpty: this.random.pick([["list"], ["none", "list"], ["none"]]) } : {};
    return { id, set: { m: 1 }, clear: ["at"], append: { list: append }, remove, vector, ...ifEmpty };
  }

  /** Rarely a long one, so that some objects are too large, and some have little room left. */
  #text(): { readonly text?: string } {
    return this.random.below(4) === 0 ? { text: "x".repeat(this.random.below(OBJECT_BYTES_MAX)) } : {};
  }

  /** One of few, so that lists have equal ones. */
  target(): ObjectId {
    return idOf(this.random.below(4));
  }

  /** After a crash: which of the possible states it is. */
  async settle(shard: Shard): Promise<void> {
    const listed = await shard.listObjects({ order: "id", after: undefined, limit: IDS, fields: ALL_FIELDS });
    const seen = JSON.stringify(listed.map(plain));
    const fits = [this.oracle, ...this.undecided].find((oracle) => JSON.stringify(sorted(oracle)) === seen);
    expect(fits, `none of ${this.undecided.length + 1} possible states is there`).toBeDefined();
    this.oracle = fits ?? this.oracle;
    this.undecided = [];
  }

  async check(shard: Shard): Promise<void> {
    const ids = Array.from({ length: IDS }, (_, at) => idOf(at));
    const objects = await shard.getObjects(ids, ALL_FIELDS);
    for (const [at, id] of ids.entries()) {
      expectObject(objects[at], this.oracle.get(id));
      expect(shard.hasObject(id)).toBe(this.oracle.has(id));
      if (this.oracle.has(id)) expect(shard.idPresenceFilter?.mayHave(id)).toBe(true);
    }
    expect(shard.objectCount).toBe(this.oracle.size);
    const limit = this.random.below(IDS) + 1;
    const after = this.id();
    const byId = [...this.oracle.keys()].sort();
    const fields = { properties: true, vector: false, extras: false };
    const page = await shard.listObjects({ order: "id", after, limit, fields });
    expect(page.map((one) => one.id)).toEqual(byId.filter((id) => id > after).slice(0, limit));
    const newest = await shard.listObjects({ order: "newest", after: undefined, limit, fields });
    const byTime = [...this.oracle].sort(([a, x], [b, y]) => y.created - x.created || (a < b ? -1 : 1));
    expect(newest.map((one) => one.id)).toEqual(byTime.slice(0, limit).map(([id]) => id));
    await this.#checkSearch(shard, limit);
    for (let at = 0; at < 5; at++) await this.#checkFilters(shard);
  }

  async #checkFilters(shard: Shard): Promise<void> {
    const objects = Array.from(this.oracle, ([id, { properties, vector, created, updated }]) => {
      return { id, properties, vector, creationTimeUnix: created, lastUpdateTimeUnix: updated };
    });
    const waited = () => {
      this.under.nowUnix += 1_000;
    };
    await checkFilters(shard, objects, PROPERTIES, this.random, this.under.nowUnix, waited);
  }

  async #checkSearch(shard: Shard, count: number): Promise<void> {
    if (shard.dimensions === undefined) return;
    const query = Float32Array.from({ length: DIMENSIONS }, () => this.random.next() + 0.1);
    const expected = [...this.oracle].flatMap(([id, { vector }]) =>
      vector === undefined ? [] : [{ id, distance: cosineDistance(query, vector) }],
    );
    expected.sort((a, b) => a.distance - b.distance || (a.id < b.id ? -1 : 1));
    const hits = await shard.searchByVector({ vector: query, count, fields: undefined });
    expect(hits.map(({ id, distance }) => ({ id, distance }))).toEqual(expected.slice(0, count));
  }
}

/** Bytes of a row, as the layout in `row.ts` has them. */
function rowBytes(properties: Readonly<Record<string, unknown>>, vector: ArrayLike<number> | undefined): number {
  return 56 + JSON.stringify(properties).length + (vector?.length ?? 0) * 4;
}

/** What a merge of this model does, written down another way than the shard does it; why it is refused, if it is. */
function applyMerge(
  before: Expected,
  { append, remove, vector, ifEmpty }: ObjectMerge,
  now: number,
): string | undefined {
  const { at: _, ...kept } = before.properties;
  if (ifEmpty?.includes("list") === true && (kept.list as JsonObject[] | undefined)?.length) return "conflict";
  const list = [...((kept.list as JsonObject[]) ?? []), ...(append.list ?? [])];
  for (const target of remove.list ?? []) {
    const found = list.findIndex(({ beacon }) => String(beacon).endsWith(target));
    if (found >= 0) list.splice(found, 1);
  }
  const properties = { ...kept, m: 1, list };
  if (rowBytes(properties, vector ?? before.vector) > OBJECT_BYTES_MAX) return "tooLarge";
  before.properties = properties;
  before.updated = now;
  if (vector !== undefined) before.vector = vector;
  return undefined;
}

function plain(object: StoredObject) {
  const { id, creationTimeUnix, lastUpdateTimeUnix, vector } = object;
  return [id, propertiesOf(object), vector === undefined ? null : [...vector], creationTimeUnix, lastUpdateTimeUnix];
}

function sorted(oracle: Oracle) {
  const byId = [...oracle].sort(([a], [b]) => (a < b ? -1 : 1));
  return byId.map(([id, one]) => [
    id,
    inOrder(one.properties),
    one.vector === undefined ? null : [...one.vector],
    one.created,
    one.updated,
  ]);
}

/** Merged properties are sorted; those of a put stay in their order, which is `n`, `at`, `text`. */
function inOrder(properties: Record<string, unknown>) {
  if (!("m" in properties)) return properties;
  return Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function expectObject(object: StoredObject | undefined, expected: Expected | undefined): void {
  if (expected === undefined) {
    expect(object).toBeUndefined();
    return;
  }
  expect(propertiesOf(object)).toEqual(expected.properties);
  expect(object?.vector).toEqual(expected.vector);
  expect([object?.creationTimeUnix, object?.lastUpdateTimeUnix]).toEqual([expected.created, expected.updated]);
}
