import type { IngestService, ObjectInput } from "@shoal/ingest";
import { type ClassRights, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { expect, it } from "vitest";
import { PermittedIngest } from "./permitted-ingest.js";

const ITEMS = 50_000;
const ID = "11111111-1111-4111-8111-111111111111";

/** Everything on `Own`, and creation on `Half`. */
const may = (action: string, className: string): boolean =>
  className === "Own" || (className === "Half" && action === "create_data");
const rights = {
  may,
  require: (action: string, className: string) => {
    if (!may(action, className)) throw new ShoalError("forbidden", `no ${action} on ${className}`);
  },
} as unknown as ClassRights;

const inputOf = (className: string | undefined): ObjectInput => ({
  ...{ id: undefined, className, properties: undefined },
  ...{ vector: undefined, vectorWeights: undefined, additional: undefined },
});

function setUp() {
  const passed: number[] = [];
  const all = async (inputs: readonly unknown[]) => {
    passed.push(inputs.length);
    return inputs.map((input) => ({ id: ID, input }));
  };
  const inner = { importObjects: all, importReferences: all } as unknown as IngestService;
  const denied = new Map<string, number>();
  const observer = {
    denied: (action: string, resource: string) => {
      const what = `${action} ${resource}`;
      denied.set(what, (denied.get(what) ?? 0) + 1);
    },
  };
  const context = { deadline: Number.MAX_SAFE_INTEGER, rights, observer } as unknown as RequestContext;
  return { ingest: new PermittedIngest(inner, () => ID), context, passed, denied };
}

/** Iterations of the event loop while something is done. */
async function iterationsDuring(work: Promise<unknown>): Promise<number> {
  using counter = new LoopCounter();
  await work;
  return counter.iterations;
}

it("S10: looks at the items of a batch in steps, and at each of them", async () => {
  const { ingest, context, passed, denied } = setUp();
  const classes = ["Own", "Half", "None", undefined];
  const inputs = Array.from({ length: ITEMS }, (_, at) => inputOf(classes[at % 4]));
  const work = ingest.importObjects(inputs, context);
  expect(await iterationsDuring(work)).toBeGreaterThan(ITEMS / 5_000);
  const outcomes = await work;
  const told = outcomes.slice(0, 4).map((outcome) => ("error" in outcome ? outcome.error?.message : "passed"));
  expect(told).toEqual(["passed", "no update_data on Half", "no create_data on None", "passed"]);
  expect(passed).toEqual([ITEMS / 2]);
  expect(Object.fromEntries(denied)).toEqual({
    "update_data Half": ITEMS / 4,
    "create_data None": ITEMS / 4,
  });
});

it("S8: tells the class by its own name, however the client writes it", async () => {
  const { ingest, context, denied } = setUp();
  await ingest.importObjects([inputOf("none"), inputOf("None")], context);
  expect(Object.fromEntries(denied)).toEqual({ "create_data None": 2 });
});

it("S10: takes more steps for classes that are new in each item", async () => {
  const { ingest, context } = setUp();
  const inputs = Array.from({ length: 2_000 }, (_, at) => inputOf(`Other${at}`));
  expect(await iterationsDuring(ingest.importObjects(inputs, context))).toBeGreaterThan(200);
});

it("S10: looks at the sources of references in steps", async () => {
  const { ingest, context, passed, denied } = setUp();
  const inputs = Array.from({ length: ITEMS }, (_, at) => ({
    from: `weaviate://localhost/${at % 2 === 0 ? "Own" : "None"}/${ID}/likes`,
    to: `weaviate://localhost/${ID}`,
  }));
  expect(await iterationsDuring(ingest.importReferences(inputs, context))).toBeGreaterThan(ITEMS / 5_000);
  expect(passed).toEqual([ITEMS / 2]);
  expect(Object.fromEntries(denied)).toEqual({ "update_data None": ITEMS / 2 });
});
