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
      "query maximum results exceeded: an offset of 2 with a limit of 9999 asks for more than 10000 rows (QUERY_MAXIMUM_RESULTS): ask for fewer",
    ],
    [
      { limit: 10_001, nearVector },
      "query maximum results exceeded: a limit of 10001 asks for more than 10000 rows (QUERY_MAXIMUM_RESULTS): ask for fewer",
    ],
    [{ limit: -2 }, "limit must be 0 or more, got -2"],
    [{ offset: -1 }, "offset must be 0 or more, got -1"],
    [
      { nearVector: { vector: new Float32Array(3), certainty: undefined } },
      "class 'Word' has vectors of 4 dimensions, got one of 3 (vector lengths don't match: 3 vs 4): use a vector of the " +
        "same model, or a class of its own",
    ],
    [
      {
        nearVector: { vector: new Float32Array(3), certainty: undefined },
        where: { operator: "Equal", path: ["text"], value: { kind: "text", values: ["a"] } },
      },
      "class 'Word' has vectors of 4 dimensions, got one of 3 (vector lengths don't match: 3 vs 4): use a vector of the " +
        "same model, or a class of its own",
    ],
    [
      { nearVector: { vector: new Float32Array(0), certainty: undefined } },
      "the vector that is searched for is empty: give its numbers in nearVector.vector",
    ],
    [
      { className: "Skipped", nearVector },
      "class 'Skipped' has no vector index (vectorIndexConfig.skip), so it cannot be searched by vectors",
    ],
    [
      { nearVector, ...near("x", undefined) },
      "a query searches for one thing, got 'nearVector' and 'nearObject': choose one of them",
    ],
    [near(undefined, undefined), "nearObject: it needs the id or the beacon of an object"],
    [
      near(uuid(seededRandom(77)), undefined),
      "nearObject: no object with id '60b71dec-02e9-7b60-2168-f0432330d879' is there, or it has no vector",
    ],
    [near("abc", undefined), 'nearObject: the id must be a UUID, got "abc"'],
    [near("ä😀", undefined), 'nearObject: the id must be a UUID, got "ä😀"'],
    [
      near(undefined, `svc://elsewhere/${objects[0]?.id}`),
      "nearObject: the host of a beacon must be 'localhost', got 'elsewhere'",
    ],
    [
      near(undefined, "svc://elsewhere/x"),
      "nearObject: invalid reference: invalid cref URI: 2nd path segment must be uuid, but got 'x'",
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
      message:
        "query maximum results exceeded: a limit of 10001 asks for more than 10000 rows (QUERY_MAXIMUM_RESULTS): ask for fewer",
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
      message: expect.stringContaining("shard 's1' of class 'Word': shard s1 is down"),
    });
    shards.down.clear();
  });
});
