import { SchemaReplica } from "@shoal/cluster";
import { ShoalError } from "@shoal/model";
import type { ClassRecord, SchemaSnapshot } from "@shoal/rpc";
import { describe, expect, test } from "vitest";
import { QueryEngine } from "./query-engine.js";
import { MemoryShards } from "./testing/memory-shards.js";
import { context, getQuery, limits, ROWS, record, world } from "./testing/memory-world.js";

const objects = world(3, 60, ["Alpha", "Beta"]);
const beta = objects.find(({ className }) => className === "Beta");
if (beta === undefined) throw new Error("no object");
const nearVector = { vector: beta.vector ?? new Float32Array(), certainty: undefined };
const LIST = { className: undefined, after: undefined, limit: 100, offset: undefined, fields: ROWS };

/** Queries of a gateway that knows `known` and has not heard that the schema is `newest` now. */
function late(known: readonly ClassRecord[], newest: readonly ClassRecord[]) {
  const shards = new MemoryShards(newest, objects, 2);
  const now: SchemaSnapshot = { historyId: "h", version: 2, classes: newest };
  let questions = 0;
  const view = new SchemaReplica({
    current: async () => {
      questions++;
      return now;
    },
    watch: (listener) => {
      listener({ historyId: "h", version: 1, classes: known });
      return { [Symbol.dispose]: () => {} };
    },
  });
  const queries = new QueryEngine({ schema: view, router: shards, limits });
  return { queries, shards, questions: () => questions };
}

const BOTH = [record("Alpha"), record("Beta")];

describe("queries of a process that has not heard of a change yet", () => {
  test.each<[string, readonly ClassRecord[], (queries: QueryEngine) => Promise<number>]>([
    ["a Get", [record("Alpha")], async (q) => (await q.get(getQuery({ className: "Beta", limit: 5 }), context)).length],
    [
      "a search in a class that has vectors now",
      [record("Alpha"), { ...record("Beta"), dimensions: undefined }],
      async (q) => (await q.get(getQuery({ className: "Beta", nearVector, limit: 5 }), context)).length,
    ],
    [
      "an Explore",
      [record("Alpha")],
      async (q) => {
        const explored = await q.explore({ nearVector, nearObject: undefined, limit: 1, offset: undefined }, context);
        return explored[0]?.id === beta.id ? 5 : 0;
      },
    ],
    ["an object by its id", [record("Alpha")], async (q) => ((await q.objectById(beta.id, ROWS, context)) ? 5 : 0)],
    ["an object by its id, nothing known", [], async (q) => ((await q.objectById(beta.id, ROWS, context)) ? 5 : 0)],
    ["a list of all classes", [record("Alpha")], async (q) => ((await q.list(LIST, context)).length === 60 ? 5 : 0)],
    ["a list of one", [], async (q) => ((await q.list({ ...LIST, className: "Beta" }, context)).length > 9 ? 5 : 0)],
  ])("%s is answered, with one question", async (_, known, ask) => {
    const { queries, questions } = late(known, BOTH);
    expect(await ask(queries)).toBe(5);
    expect(questions()).toBe(1);
  });

  test("what is known is asked of nobody", async () => {
    const { queries, questions } = late(BOTH, BOTH);
    await queries.get(getQuery({ className: "Beta", nearVector, limit: 5 }), context);
    await queries.objectById(beta.id, ROWS, context);
    await queries.list({ ...LIST, className: "Beta" }, context);
    expect(questions()).toBe(0);
  });

  test("a class that is gone is said to be gone, and what fails again is told", async () => {
    const { queries, shards, questions } = late(BOTH, [record("Alpha")]);
    // The shards of a class that is gone are nowhere.
    shards.down.add("Beta_s0").add("Beta_s1");
    await expect(queries.get(getQuery({ className: "Beta" }), context)).rejects.toMatchObject({
      message: "could not find class 'Beta' in the schema: create it with POST /v1/schema first",
    });
    shards.down.add("s0");
    await expect(queries.list({ ...LIST, className: "Alpha" }, context)).rejects.toThrow("shard s0 is down");
    expect(questions()).toBeGreaterThan(0);
  });

  test("faults of ours are not repeated", async () => {
    const { queries, shards, questions } = late(BOTH, BOTH);
    let calls = 0;
    shards.node().listObjects = () => {
      calls++;
      return Promise.reject(new ShoalError("dataLoss", "damaged"));
    };
    await expect(queries.list({ ...LIST, className: "Alpha" }, context)).rejects.toThrow("damaged");
    expect([calls, questions()]).toEqual([2, 0]);
  });
});
