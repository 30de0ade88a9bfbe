import { foldMembers, isUncheckedObject, RequestWarnings, ShoalError } from "@shoal/model";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ANONYMOUS } from "../../auth/access.js";
import { batchItems } from "../../graphql/batch/batch-items.js";
import { decodeRequest, readRequest } from "../../graphql/reading/request-body.js";
import type { HttpRequest } from "../../http/http-request.js";
import { ResponseBudget } from "../../response-budget.js";
import { RowGate } from "../../row-gate.js";
import { FakeServices } from "../../testing/fake-services.js";
import { readBatchBody } from "../batch-body.js";
import { listRoute } from "../list-route.js";
import { readObjectBody } from "../object-body.js";
import { ObjectWriter } from "../object-json.js";
import { readReference, readReferenceBatch, readReferences } from "../reference-body.js";
import { GRAPHQL_BATCH_BODY, GRAPHQL_BODY } from "./graphql-operations.js";
import { BATCH_OBJECTS_BODY, OBJECT_BODY } from "./object-schemas.js";
import { OBJECT_LIST_QUERY } from "./parameters.js";
import { BATCH_REFERENCES_BODY, REFERENCE_BODY, REFERENCE_LIST_BODY } from "./reference-schemas.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261120);
const ROUNDS = 3_000;

const MEMBERS = [
  ...["class", "id", "properties", "vector", "vectorWeights", "additional", "creationTimeUnix", "lastUpdateTimeUnix"],
  ...["objects", "fields", "query", "operationName", "variables", "beacon", "from", "to", "href", "__proto__"],
];
const TEXTS = ["", "Car", "ALL", "class", "weaviate://localhost/8e2997f2-1972-4ee2-ad35-5fc704f2893e", "/x", "x"];

function value(random: SeededRandom, depth: number): unknown {
  const kind = random.below(depth > 0 ? 10 : 6);
  if (kind === 0) return random.pick([null, true]);
  if (kind === 1) return random.pick([0, 7, -3, 1.5, 1e39, 2 ** 70]);
  if (kind < 5) return random.pick(TEXTS);
  if (kind === 5) return Array.from({ length: random.below(4) }, () => random.pick([0.5, 1, 1, 1, null, 1e39, "x"]));
  if (kind === 6) return Array.from({ length: random.below(4) }, () => value(random, depth - 1));
  // One member in two cases at once is nothing that anybody means; which one counts is not the same everywhere.
  const names = new Set(Array.from({ length: random.below(5) }, () => random.pick(MEMBERS)));
  return Object.fromEntries(
    [...names].map((name) => [random.below(5) === 0 ? name.toUpperCase() : name, value(random, depth - 1)]),
  );
}

/** A body whose members are mostly what they should be, or anything. */
function body(random: SeededRandom): unknown {
  if (random.below(4) === 0) return value(random, 3);
  const object = {
    class: "Car",
    vector: [1, 0.5],
    properties: { a: 1 },
    query: "{x}",
    beacon: "/x",
    from: "/a",
    to: "/b",
    objects: Array.from({ length: random.below(3) }, () => value(random, 2)),
  };
  const changed = { ...object, [random.pick(MEMBERS)]: value(random, 2) };
  return random.below(3) === 0
    ? [changed, ...Array.from({ length: random.below(3) }, () => value(random, 2))]
    : changed;
}

/** Whether it is taken; what is refused must be refused for its form. */
async function isTaken(read: () => unknown): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (thrown) {
    if (!(thrown instanceof ShoalError)) throw thrown;
    return false;
  }
}

function readGraphQl(bytes: Buffer): void {
  const read = readRequest(bytes);
  if ("refusal" in read) throw new ShoalError("invalid", "refused");
}

/** An item without a query has a response of its own, and so has all else that is no matter of its format. */
function readGraphQlBatch(bytes: Buffer): void {
  const items = batchItems(bytes, 100);
  if (items.length === 0) throw new ShoalError("invalid", "refused");
  for (const item of items) {
    const { variables } = decodeRequest(item);
    if (variables !== undefined && !isUncheckedObject(variables)) throw new ShoalError("invalid", "refused");
  }
}

/** Whether the schema takes it, read as the decoder reads: names in any case, null for absent. */
function matches(schema: z.ZodType, given: unknown): boolean {
  const empty = schema instanceof z.ZodArray ? [] : {};
  return schema.safeParse(foldMembers(schema, given ?? empty)).success;
}

/** A vector that cannot be decoded fails its item, not the batch. */
const ITEM = OBJECT_BODY.extend({ vector: z.unknown().optional() });
const BATCH = BATCH_OBJECTS_BODY.extend({ objects: z.array(ITEM.nullable()).optional() });

const READERS: readonly (readonly [string, z.ZodType, (bytes: Buffer) => unknown])[] = [
  ["an object", OBJECT_BODY, (bytes) => readObjectBody(bytes, {})],
  ["a batch of objects", BATCH, (bytes) => readBatchBody(bytes, 1_000, {})],
  ["a reference", REFERENCE_BODY, (bytes) => readReference(bytes, {})],
  ["a list of references", REFERENCE_LIST_BODY, (bytes) => readReferences(bytes, 1_000, {})],
  ["a batch of references", BATCH_REFERENCES_BODY, (bytes) => readReferenceBatch(bytes, 1_000, {})],
  ["a query", GRAPHQL_BODY, readGraphQl],
  ["a batch of queries", GRAPHQL_BATCH_BODY, readGraphQlBatch],
];

describe.each(READERS)(`the reader and the schema of %s, seed ${SEED}`, (_, schema, read) => {
  it("take the same bodies", async () => {
    const random = seededRandom(SEED);
    let taken = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const given = body(random);
      const bytes = Buffer.from(JSON.stringify(given));
      const isRead = await isTaken(() => read(bytes));
      if (isRead) taken++;
      expect(matches(schema, JSON.parse(bytes.toString())), bytes.toString()).toBe(isRead);
    }
    expect(taken).toBeGreaterThan(ROUNDS / 50);
    expect(taken).toBeLessThan(ROUNDS - ROUNDS / 50);
  });
});

const QUERY_VALUES = [
  ...["", "0", "5", "+5", "-5", "1.0", "1e2", "abc", "9223372036854775807", "9223372036854775808", "%35", " 5", "0x5"],
  ...["vector", "classification", "vector,classification", "vector,", "Vector", "*", "Car", "%00", "null"],
  ...["8e2997f2-1972-4ee2-ad35-5fc704f2893e", "8E2997F219724EE2AD355FC704F2893E", "8e2997f2"],
];

it(`the query parameters of a list and their schema take the same, seed ${SEED}`, async () => {
  const services = new FakeServices();
  const route = listRoute(services.query, new ObjectWriter(services.view, { beaconScheme: "svc" }, ""), {
    queryDefaultsLimit: 25,
    queryMaximumResults: 10_000,
    rowGate: new RowGate(10_000),
    responses: new ResponseBudget({ answerBytesMax: 2 ** 30, answersBytesMax: 2 ** 30 }),
  });
  const random = seededRandom(SEED);
  const names = [...Object.keys(OBJECT_LIST_QUERY.shape), "other"];
  const outcomes = { taken: 0, refused: 0 };
  for (let round = 0; round < 4_000; round++) {
    const given = Array.from(
      { length: random.below(4) },
      () => [random.pick(names), random.pick(QUERY_VALUES)] as const,
    );
    const queryString = given.map(([name, text]) => `${name}=${text.replace("+", "%2B")}`).join("&");
    const request: HttpRequest = {
      params: [],
      queryString,
      body: Buffer.alloc(0),
      principal: ANONYMOUS,
      context: { deadline: Number.POSITIVE_INFINITY },
      warnings: new RequestWarnings(),
    };
    const isRead = await Promise.resolve()
      .then(() => route.handle(request))
      .then(
        () => true,
        () => false,
      );
    outcomes[isRead ? "taken" : "refused"]++;
    const last = new Map(new URLSearchParams(queryString));
    const members = [...last].filter(([name, text]) => text !== "" || name === "after");
    expect(OBJECT_LIST_QUERY.safeParse(Object.fromEntries(members)).success, queryString).toBe(isRead);
  }
  expect(outcomes.taken).toBeGreaterThan(400);
  expect(outcomes.refused).toBeGreaterThan(400);
});
