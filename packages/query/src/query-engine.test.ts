import { type ClassDefinition, type GetQuery, type ObjectId, parseObjectId, ShoalError } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import { describe, expect, test } from "vitest";
import { type MemoryObject, MemoryShards, nearest } from "./memory-shards.js";
import { QueryEngine } from "./query-engine.js";

const DIMENSIONS = 4;
const NOTHING = { properties: false, vector: false, extras: false };
const ROWS = { properties: true, vector: false, extras: false };
const context = { deadline: Number.POSITIVE_INFINITY };
const limits = { defaultLimit: 25, maximumResults: 10_000 };

/** Small deterministic generator (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function record(name: string, skip = false, dimensions: number | undefined = DIMENSIONS): ClassRecord {
  const definition = { class: name, vectorIndexConfig: { skip } } as ClassDefinition;
  return { definition, classId: name, dimensions, sharding: { shards: [], virtualShards: [], assignments: [] } };
}

function uuid(next: () => number): ObjectId {
  const hex = Array.from({ length: 32 }, () => Math.floor(next() * 16).toString(16)).join("");
  const id = parseObjectId(hex);
  if (id === undefined) throw new Error(hex);
  return id;
}

function world(seed: number, count: number, classes = ["Word"]): MemoryObject[] {
  const next = random(seed);
  return Array.from({ length: count }, () => ({
    className: classes[Math.floor(next() * classes.length)] ?? "Word",
    id: uuid(next),
    // Few distinct times, so that ties are common.
    creationTimeUnix: 1000 + Math.floor(next() * 20),
    vector: Float32Array.from({ length: DIMENSIONS }, () => next() - 0.5),
  }));
}

function engineOver(objects: readonly MemoryObject[], shardCount: number, records = [record("Word")]) {
  const shards = new MemoryShards(records, objects, shardCount);
  return { shards, engine: new QueryEngine({ schema: shards, router: shards, limits }) };
}

function getQuery(change: Partial<GetQuery>): GetQuery {
  return {
    className: "Word",
    limit: undefined,
    offset: undefined,
    nearVector: undefined,
    nearObject: undefined,
    fields: NOTHING,
    ...change,
  };
}

const byId = (a: MemoryObject, b: MemoryObject) => (a.id < b.id ? -1 : 1);

describe.each([1, 2, 5])("over %i shards", (shardCount) => {
  const objects = world(shardCount, 400);
  const { engine } = engineOver(objects, shardCount);
  const sorted = [...objects].sort(byId);

  test("a plain Get is ordered by id over all shards and takes 100 rows", async () => {
    const rows = await engine.get(getQuery({}), context);
    expect(rows.map(({ id }) => id)).toEqual(sorted.slice(0, 100).map(({ id }) => id));
  });

  test.each([
    [3, 0],
    [10, 95],
    [50, 390],
    [0, 5],
    [5, 1000],
  ])("limit %i offset %i", async (limit, offset) => {
    const rows = await engine.get(getQuery({ limit, offset }), context);
    expect(rows.map(({ id }) => id)).toEqual(sorted.slice(offset, offset + limit).map(({ id }) => id));
  });

  test("an offset alone, and limit -1, take the default limit", async () => {
    const expected = sorted.slice(7, 32).map(({ id }) => id);
    expect((await engine.get(getQuery({ offset: 7 }), context)).map(({ id }) => id)).toEqual(expected);
    expect((await engine.get(getQuery({ offset: 7, limit: -1 }), context)).map(({ id }) => id)).toEqual(expected);
  });

  test("nearVector agrees with brute force at every page, with and without rows", async () => {
    const next = random(99);
    for (const [limit, offset] of [
      [10, 0],
      [7, 20],
      [200, 100],
      [400, 0],
    ] as const) {
      const vector = Float32Array.from({ length: DIMENSIONS }, () => next() - 0.5);
      const expected = nearest(objects, { vector, count: offset + limit, fields: undefined }).slice(offset);
      for (const fields of [NOTHING, ROWS]) {
        const nearVector = { vector, certainty: undefined };
        const rows = await engine.get(getQuery({ nearVector, limit, offset, fields }), context);
        expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        expect(rows.map(({ certainty }) => certainty)).toEqual(
          expected.map((hit) => Math.fround(1 - hit.distance / 2)),
        );
        expect(rows.every(({ object }) => (object === undefined) === (fields === NOTHING))).toBe(true);
      }
    }
  });

  test("the certainty minimum cuts the page, it does not refill it", async () => {
    const vector = Float32Array.of(1, 0, 0, 0);
    const all = nearest(objects, { vector, count: 50, fields: undefined });
    const certainty = Math.fround(1 - (all[20]?.distance ?? 0) / 2);
    const rows = await engine.get(getQuery({ nearVector: { vector, certainty }, limit: 50 }), context);
    expect(rows.map(({ id }) => id)).toEqual(all.slice(0, 21).map(({ id }) => id));
  });

  test("a list is newest first, then by id", async () => {
    const expected = [...objects].sort((a, b) => b.creationTimeUnix - a.creationTimeUnix || byId(a, b));
    const list = await engine.list(
      { className: undefined, after: undefined, limit: 60, offset: 30, fields: ROWS },
      context,
    );
    expect(list.map(({ id }) => id)).toEqual(expected.slice(30, 90).map(({ id }) => id));
  });

  test("a list with after walks the ids, also from one that is not there", async () => {
    const after = uuid(random(5));
    const list = await engine.list({ className: "Word", after, limit: 9, offset: undefined, fields: ROWS }, context);
    const expected = sorted.filter(({ id }) => id > after).slice(0, 9);
    expect(list.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  });

  test("an object is its own nearest neighbour", async () => {
    const object = objects[17];
    for (const near of [
      { id: object?.id, beacon: undefined },
      { id: undefined, beacon: `weaviate://localhost/${object?.id}` },
    ]) {
      const rows = await engine.get(getQuery({ nearObject: { ...near, certainty: undefined }, limit: 1 }), context);
      expect(rows[0]?.id).toBe(object?.id);
      expect(rows[0]?.certainty).toBeCloseTo(1, 5);
    }
  });
});

describe("several classes", () => {
  const objects = world(7, 300, ["Alpha", "Beta", "Gamma"]);
  const records = [record("Gamma"), record("Beta"), record("Alpha")];

  test("an id is found in its class with one request a node and one for the row", async () => {
    const { engine, shards } = engineOver(objects, 3, records);
    const object = objects[42];
    const id = object?.id;
    if (id === undefined) throw new Error("no object");
    expect((await engine.objectById(id, ROWS, context))?.className).toBe(object?.className);
    expect(Object.fromEntries(shards.calls)).toEqual({ hasObjects: 1, getObjects: 1 });
    expect(await engine.objectById(uuid(random(1234)), ROWS, context)).toBeUndefined();
  });

  test("of twins the first class by name wins", async () => {
    const twin = objects[0];
    if (twin === undefined) throw new Error("no object");
    const twins = ["Gamma", "Beta", "Alpha"].map((className) => ({ ...twin, className }));
    const { engine } = engineOver(twins, 3, records);
    expect((await engine.objectById(twin.id, ROWS, context))?.className).toBe("Alpha");
  });

  test("an id is found while another class cannot be asked, and only then is its absence in doubt", async () => {
    const { engine, shards } = engineOver(objects, 1, records);
    const beta = objects.find(({ className }) => className === "Beta")?.id;
    if (beta === undefined) throw new Error("no object");
    const unknown = uuid(random(1234));
    for (const down of ["Alpha_s0", "Gamma_s0"]) {
      shards.down.add(down);
      expect((await engine.objectById(beta, ROWS, context))?.className, down).toBe("Beta");
      await expect(engine.objectById(unknown, ROWS, context)).rejects.toMatchObject({ code: "unavailable" });
    }
    shards.down.clear();
    shards.down.add("Beta_s0");
    await expect(engine.objectById(beta, ROWS, context)).rejects.toMatchObject({
      code: "unavailable",
      message: "shard s0 is down",
    });
    shards.down.clear();
    expect(await engine.objectById(unknown, ROWS, context)).toBeUndefined();
  });

  test("of twins the second is shown when the first cannot be read", async () => {
    const twin = objects[0];
    if (twin === undefined) throw new Error("no object");
    const { engine, shards } = engineOver(
      ["Gamma", "Beta", "Alpha"].map((className) => ({ ...twin, className })),
      1,
      records,
    );
    const { getObjects } = shards.node();
    shards.node().getObjects = async (shard, ...rest) => {
      if (shard.className === "Alpha") throw new ShoalError("dataLoss", "damaged row");
      return getObjects(shard, ...rest);
    };
    expect((await engine.objectById(twin.id, ROWS, context))?.className).toBe("Beta");
    shards.down.add("s0");
    await expect(engine.objectById(twin.id, ROWS, context)).rejects.toMatchObject({ code: "unavailable" });
  });

  test("nearObject looks in all classes", async () => {
    const { engine } = engineOver(objects, 2, records);
    const foreign = objects.find(({ className }) => className === "Gamma");
    const near = { id: foreign?.id, beacon: undefined, certainty: undefined };
    const rows = await engine.get(getQuery({ className: "Alpha", nearObject: near, limit: 5 }), context);
    const vector = foreign?.vector ?? new Float32Array();
    const alphas = objects.filter(({ className }) => className === "Alpha");
    const expected = nearest(alphas, { vector, count: 5, fields: undefined });
    expect(rows.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
  });

  test("a list without a class covers all of them, with one only that", async () => {
    const { engine } = engineOver(objects, 2, records);
    const query = { after: undefined, limit: 1000, offset: undefined, fields: ROWS };
    expect(await engine.list({ ...query, className: undefined }, context)).toHaveLength(300);
    const betas = await engine.list({ ...query, className: "Beta" }, context);
    expect(new Set(betas.map(({ className }) => className))).toEqual(new Set(["Beta"]));
  });
});

describe("refusals", () => {
  const objects = world(3, 20);
  const { engine, shards } = engineOver(objects, 2, [
    record("Word"),
    record("Skipped", true),
    { ...record("Empty"), dimensions: undefined },
  ]);
  const vector = new Float32Array(DIMENSIONS).fill(1);
  const nearVector = { vector, certainty: undefined };
  const near = (id: string | undefined, beacon: string | undefined) => ({
    nearObject: { id, beacon, certainty: undefined },
  });

  test.each<[Partial<GetQuery>, string]>([
    [
      { limit: 9_999, offset: 2 },
      "explorer: list class: search: invalid pagination params: query maximum results exceeded",
    ],
    [
      { limit: 10_001, nearVector },
      "explorer: get class: vector search: invalid pagination params: query maximum results exceeded",
    ],
    [{ limit: -2 }, "explorer: list class: search: invalid pagination params: limit must be 0 or more, got -2"],
    [{ offset: -1 }, "explorer: list class: search: invalid pagination params: offset must be 0 or more, got -1"],
    [
      { nearVector: { vector: new Float32Array(3), certainty: undefined } },
      "explorer: get class: vector search: object vector search at index word: shard word_s0: vector search: " +
        "knn search: distance between entrypint and query node: vector lengths don't match: 4 vs 3",
    ],
    [
      { nearVector: { vector: new Float32Array(0), certainty: undefined } },
      "explorer: get class: vector search: object vector search at index word: shard word_s0: vector search: " +
        "got a nil or zero-length vector as search vector",
    ],
    [
      { className: "Skipped", nearVector },
      "explorer: get class: vector search: object vector search at index skipped: shard skipped_s0: vector search: " +
        "cannot vector-search on a class not vector-indexed",
    ],
    [
      { nearVector, ...near("x", undefined) },
      "explorer: get class: vectorize params: found both 'nearVector' and 'nearObject' parameters which are conflicting, choose one instead",
    ],
    [near(undefined, undefined), "explorer: get class: vectorize params: nearObject params: empty id and beacon"],
    [near(uuid(random(77)), undefined), "explorer: get class: vectorize params: nearObject params: vector not found"],
    [
      near("abc", undefined),
      "explorer: get class: vectorize params: nearObject params: search index empty: parse id as uuid: invalid UUID length: 3",
    ],
    [
      near("ä😀", undefined),
      "explorer: get class: vectorize params: nearObject params: search index empty: parse id as uuid: invalid UUID length: 6",
    ],
    [
      near(undefined, `svc://elsewhere/${objects[0]?.id}`),
      "explorer: get class: vectorize params: nearObject params: unrecognized cross-ref ref format",
    ],
    [
      near(undefined, "svc://elsewhere/x"),
      "explorer: get class: vectorize params: nearObject params: invalid cref URI: 2nd path segment must be uuid, but got 'x'",
    ],
  ])("%o", async (change, message) => {
    await expect(engine.get(getQuery(change), context)).rejects.toMatchObject({ code: "invalid", message });
  });

  test("a class that never had a vector has no neighbours", async () => {
    expect(await engine.get(getQuery({ className: "Empty", nearVector }), context)).toEqual([]);
  });

  test("lists: pages out of bounds, after without class or with offset, unknown class", async () => {
    const list = (change: object) =>
      engine.list(
        { className: undefined, after: undefined, limit: undefined, offset: undefined, fields: ROWS, ...change },
        context,
      );
    await expect(list({ limit: 10_001 })).rejects.toMatchObject({
      code: "invalid",
      message: "list objects: query maximum results exceeded",
    });
    for (const change of [
      { limit: -1 },
      { offset: -1 },
      { after: objects[0]?.id },
      { className: "Word", after: objects[0]?.id, offset: 1 },
      { className: "Nope" },
    ]) {
      await expect(list(change)).rejects.toMatchObject({ code: "invalid" });
    }
  });

  test("an object of a class whose shard is down is neither there nor absent", async () => {
    const alone = engineOver(objects, 1);
    alone.shards.down.add("s0");
    const id = objects[0]?.id ?? uuid(random(1));
    await expect(alone.engine.objectById(id, ROWS, context)).rejects.toMatchObject({ code: "unavailable" });
  });

  test("one shard that fails fails the query, with its name", async () => {
    shards.down.add("s1");
    await expect(engine.get(getQuery({ nearVector }), context)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("shard word_s1: vector search: shard s1 is down"),
    });
    shards.down.clear();
  });
});
