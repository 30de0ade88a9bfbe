import type { GetQuery } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, test } from "vitest";
import { context, DIMENSIONS, engineOver, getQuery, ROWS, record, uuid, world } from "./testing/memory-world.js";

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
      {
        nearVector: { vector: new Float32Array(3), certainty: undefined },
        where: { operator: "Equal", path: ["text"], value: { kind: "text", values: ["a"] } },
      },
      "explorer: get class: vector search: object vector search at index word: shard word_s0: vector search: " +
        "vector lengths don't match: 4 vs 3",
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
    [
      near(uuid(seededRandom(77)), undefined),
      "explorer: get class: vectorize params: nearObject params: vector not found",
    ],
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
    const id = objects[0]?.id ?? uuid(seededRandom(1));
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
