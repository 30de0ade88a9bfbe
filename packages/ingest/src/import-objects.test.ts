import { type ObjectId, ShoalError } from "@shoal/model";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import type { BatchOutcome, ObjectInput } from "./ingest-service.js";
import { input, MISSING_VECTOR, refusal, setUp } from "./ingest-setup.fixture.js";

const id = "8e2997f2-1972-4ee2-ad35-5fc704f2893e" as ObjectId;

function idOf(index: number): ObjectId {
  return `${((index * 2654435761) >>> 0).toString(16).padStart(8, "0")}-0000-4000-8000-${index.toString(16).padStart(12, "0")}` as ObjectId;
}

function texts(outcomes: readonly BatchOutcome[]): string[] {
  return outcomes.map((outcome) => ("error" in outcome ? outcome.error.message : "ok"));
}

describe("importObjects", () => {
  it("refuses an empty list", async () => {
    const { ingest, context } = setUp();
    expect(await refusal(ingest.importObjects([], context))).toBe(
      "invalid: invalid param 'objects': cannot be empty, need at least one object for batching",
    );
  });

  it("refuses the whole batch for a malformed id", async () => {
    const { cluster, ingest, context } = setUp();
    const batch = [input("Car", { id }), input("Car", { id: "nope" })];
    expect(await refusal(ingest.importObjects(batch, context))).toBe(`invalid: member 'id' must be a UUID, got "nope"`);
    expect(cluster.row("Car", id)).toBeUndefined();
  });

  it("tells each item's fate in order, with the id it has or would have had", async () => {
    const { cluster, ingest, context } = setUp({ nodes: 2, shards: 3 });
    const nothing = {
      id: undefined,
      className: undefined,
      properties: undefined,
      vector: undefined,
      vectorWeights: undefined,
      additional: undefined,
    };
    const batch: (ObjectInput | undefined)[] = [
      input("Car", { id: id.toUpperCase(), properties: { name: "a" }, additional: { a: 1 } }),
      undefined,
      input("Nope"),
      input(undefined, { vector: [] }),
      input("Car", { properties: { wheels: "x" } }),
      input("Car", { properties: { wheels: "x" }, vector: [] }),
      input("Car", { vector: [] }),
      input("Car", { vector: [1, 2, 3] }),
      input("Car", { vector: [1, Number.NaN] }),
      input("Note", { vector: undefined }),
      input("Bus", { vector: [1, 2, 3, 4] }),
    ];
    const outcomes = await ingest.importObjects(batch, context);
    expect(texts(outcomes)).toEqual([
      "ok",
      "the object names no class: give it in the member 'class'",
      "could not find class 'Nope' in the schema: did you mean 'Note'?",
      "the object names no class: give it in the member 'class'",
      "invalid integer property 'wheels' on class 'Car': requires an integer of at most 64 bits, without fraction or exponent, but got the string \"x\"",
      `invalid integer property 'wheels' on class 'Car': requires an integer of at most 64 bits, without fraction or exponent, but got the string "x", ${MISSING_VECTOR}`,
      MISSING_VECTOR,
      "class 'Car' has vectors of 2 dimensions, got one of 3 (vector lengths don't match: 3 vs 2): use a vector of the same model, or a class of its own",
      "element 1 of the vector must be a number within the range of float32, but got the number NaN",
      "ok",
      "ok",
    ]);
    expect(outcomes[0]).toEqual({
      written: {
        object: {
          id,
          className: "Car",
          properties: { name: "a" },
          vector: Float32Array.of(1, 2),
          extras: { additional: { a: 1 } },
        },
        creationTimeUnix: 1_000,
        lastUpdateTimeUnix: 1_000,
      },
    });
    expect(outcomes[1]).toMatchObject({ id: "00000000-0000-4000-8000-000000000001", input: nothing });
    expect(outcomes[2]).toMatchObject({ id: "00000000-0000-4000-8000-000000000002", input: batch[2] });
    for (const outcome of outcomes) if ("error" in outcome) expect(outcome.error.code).toBe("invalid");
    expect([...cluster.rows.values()].reduce((sum, rows) => sum + rows.size, 0)).toBe(3);
  });

  it("fixes the dimensions of a class once for a batch, by its first valid item", async () => {
    const { cluster, ingest, context } = setUp();
    const batch = [input("Car", { vector: ["x"] }), input("Car", { vector: [1, 2, 3] }), input("Car", { vector: [1] })];
    const mismatch =
      "class 'Car' has vectors of 3 dimensions, got one of 1 (vector lengths don't match: 1 vs 3): use a vector of the same model, or a class of its own";
    expect(texts(await ingest.importObjects(batch, context)).slice(1)).toEqual(["ok", mismatch]);
    expect(cluster.fixCalls).toBe(1);
    cluster.publishDimensions();
    expect(texts(await ingest.importObjects(batch, context)).slice(1)).toEqual(["ok", mismatch]);
    expect(cluster.fixCalls).toBe(1);
  });

  it("fails the items of a class whose dimensions cannot be fixed, asking once, and no others", async () => {
    const { cluster, ingest, context } = setUp();
    cluster.fixFailure = new ShoalError("unavailable", "no coordinator");
    const batch = [input("Car"), input("Note", { vector: undefined }), input("Car"), input("Car")];
    expect(texts(await ingest.importObjects(batch, context))).toEqual([
      "no coordinator",
      "ok",
      "no coordinator",
      "no coordinator",
    ]);
    expect(cluster.fixCalls).toBe(1);
  });

  it("replaces existing objects completely; of equal ids the last one stays, across chunks too", async () => {
    const { cluster, ingest, context } = setUp({ shards: 3, limits: { chunkObjectsMax: 2 } });
    await ingest.importObjects([input("Car", { id, properties: { name: "old", wheels: 1 } })], context);
    const batch = Array.from({ length: 9 }, (_, i) => input("Car", { id, properties: { wheels: i } }));
    expect(texts(await ingest.importObjects(batch, context))).toEqual(batch.map(() => "ok"));
    expect(cluster.row("Car", id)?.object.properties).toEqual({ wheels: 8 });
  });

  it("sends one request a shard, in chunks of limited size", async () => {
    const { cluster, ingest, context } = setUp({
      nodes: 2,
      shards: 4,
      limits: { chunkObjectsMax: 30, chunkVectorBytesMax: 160 },
    });
    const batch = Array.from({ length: 400 }, (_, i) => input("Car", { id: idOf(i) }));
    expect(new Set(texts(await ingest.importObjects(batch, context)))).toEqual(new Set(["ok"]));
    const sizes = cluster.calls.map((call) => Number(call.split(" ").at(-1)));
    expect(Math.max(...sizes)).toBe(20);
    expect(sizes.reduce((a, b) => a + b, 0)).toBe(400);
    expect(sizes.length).toBeLessThanOrEqual(400 / 20 + 4);
    cluster.calls.length = 0;
    await ingest.importObjects(
      [input("Car", { id, vector: [1, 2] }), input("Bus", { vector: Array(100).fill(1) })],
      context,
    );
    expect(cluster.calls.map((call) => call.slice(6)).sort()).toEqual(["put Bus upsert 1", "put Car upsert 1"]);
  });

  it("a failing shard fails only its items", async () => {
    const { cluster, ingest, context } = setUp({ shards: 3, limits: { chunkObjectsMax: 5 } });
    const car = cluster.classRecord("Car");
    if (car === undefined) throw new Error();
    const bad = cluster.shardsOf(car)[1]?.shardName;
    let puts = 0;
    cluster.beforePut = (shard) => {
      if (shard.shardName === bad && ++puts > 1) throw new ShoalError("unavailable", `shard '${bad}' is gone`);
    };
    const batch = Array.from({ length: 90 }, (_, i) => input("Car", { id: idOf(i) }));
    const outcomes = await ingest.importObjects(batch, context);
    const expected = batch.map(({ id: itemId }) => cluster.shardOf(car, itemId as ObjectId).shardName !== bad);
    let ofBad = 0;
    outcomes.forEach((outcome, index) => {
      // The first chunk of five went through before the shard went away.
      const stored = expected[index] === true || ofBad++ < 5;
      expect("written" in outcome, `item ${index}`).toBe(stored);
      expect(cluster.row("Car", batch[index]?.id ?? "") !== undefined).toBe(stored);
      if ("error" in outcome) expect(outcome).toMatchObject({ id: batch[index]?.id, error: { code: "unavailable" } });
    });
    expect(ofBad).toBeGreaterThan(5);
    expect(puts).toBe(2);
  });

  it("an unknown node fails only the items that belong to it", async () => {
    const { cluster, ingest, context } = setUp({ nodes: 2, shards: 2 });
    cluster.downNodes.add("node1");
    const batch = Array.from({ length: 60 }, (_, i) => input("Car", { id: idOf(i) }));
    const car = cluster.classRecord("Car");
    if (car === undefined) throw new Error();
    const expected = batch.map((item) =>
      cluster.nodeNameOf(cluster.shardOf(car, item.id as ObjectId)) === "node0" ? "ok" : "node 'node1' is down",
    );
    expect(texts(await ingest.importObjects(batch, context))).toEqual(expected);
    expect(new Set(expected).size).toBe(2);
  });

  it("ends with deadlineExceeded when the deadline passes; what was acknowledged stays", async () => {
    const { cluster, ingest } = setUp({ limits: { chunkObjectsMax: 10 } });
    cluster.beforePut = () => {
      cluster.now += 40;
    };
    const batch = Array.from({ length: 100 }, (_, i) => input("Car", { id: idOf(i) }));
    const context = { deadline: cluster.now + 100 };
    expect(await refusal(ingest.importObjects(batch, context))).toBe(
      "deadlineExceeded: the batch ran into its time-out; what was acknowledged by then is stored",
    );
    expect(cluster.calls).toHaveLength(3);
    expect(cluster.row("Car", idOf(29))).toBeDefined();
    expect(cluster.row("Car", idOf(30))).toBeUndefined();
  });

  it("checks no further once nobody waits for the outcome", async () => {
    let clock = 0;
    const { ingest } = setUp({ nowMs: () => clock++, limits: { stepMsMax: 20 } });
    const refused = Array.from({ length: 1_000 }, () => input("Car", { vector: "none" }));
    expect(await refusal(ingest.importObjects(refused, { deadline: 100 }))).toContain("deadlineExceeded: ");
    expect(clock).toBeLessThan(200);
  });

  it("passes on a shard's own deadlineExceeded", async () => {
    const { cluster, ingest, context } = setUp();
    cluster.beforePut = () => {
      throw new ShoalError("deadlineExceeded", "shard took too long");
    };
    expect(await refusal(ingest.importObjects([input("Car")], context))).toBe("deadlineExceeded: shard took too long");
  });

  it("yields while it validates", async () => {
    let clock = 0;
    const { ingest, context } = setUp({ nowMs: () => clock++, limits: { stepMsMax: 20 } });
    // A timer would count milliseconds, of which a fast machine needs too few.
    let iterations = 0;
    let next: NodeJS.Immediate;
    const other = (): void => {
      iterations++;
      next = setImmediate(other);
    };
    next = setImmediate(other);
    await ingest.importObjects(
      Array.from({ length: 2_000 }, () => input("Car")),
      context,
    );
    clearImmediate(next);
    expect(iterations).toBeGreaterThan(3);
  });

  it("agrees with a Map over random batches (seed 7)", async () => {
    const { below } = seededRandom(7);
    const { cluster, ingest, context } = setUp({ nodes: 2, shards: 3, limits: { chunkObjectsMax: 7 } });
    const oracle = new Map<string, unknown>();
    for (let round = 0; round < 60; round++) {
      const batch = Array.from({ length: 1 + below(30) }, () => {
        const properties = below(10) === 0 ? { wheels: "bad" } : { wheels: below(1_000) };
        return input(below(2) === 0 ? "Car" : "Bus", { id: idOf(below(40)), properties, vector: [below(9), 1] });
      });
      const outcomes = await ingest.importObjects(batch, context);
      batch.forEach((item, index) => {
        const valid = typeof (item.properties as { wheels: unknown }).wheels === "number";
        expect("written" in (outcomes[index] ?? {})).toBe(valid);
        if (valid) oracle.set(`${item.className}/${item.id}`, item.properties);
      });
      if (round === 20) cluster.publishDimensions();
    }
    const stored = [...cluster.rows.values()].flatMap((rows) => [...rows.values()].map(({ object }) => object));
    expect(new Map(stored.map((object) => [`${object.className}/${object.id}`, object.properties]))).toEqual(oracle);
  });
});
