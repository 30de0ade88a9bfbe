import type { RequestContext } from "@shoal/runtime";
import { TurnCounter } from "@shoal/turn-counter";
import { buildSchema, execute, executeSync, type GraphQLSchema, getIntrospectionQuery, parse } from "graphql";
import { beforeAll, expect, it } from "vitest";
import { AnswerBudget } from "../../answer-budget.js";
import { Introspection, introspectInTurns } from "./introspect-in-turns.js";
import { answerParts } from "./introspection-call.js";

it.each([
  null,
  {},
  { Get: null },
  { Get: {} },
  { Get: { Book: [] } },
  { Get: { Book: [{ "ti\u2028tle": 'ä"\n', n: [1, { a: [] }] }, null, {}], a: [[], [1]] }, __typename: "Q" },
])("the parts of %j are its JSON", (data) => {
  expect([...answerParts(data)].join("")).toBe(JSON.stringify(data));
});

it("has a part for each field of a type", () => {
  const fields = Array.from({ length: 100 }, (_, i) => ({ name: `field ${i}`, args: [{ name: "limit" }] }));
  const parts = [...answerParts({ types: [{ name: "T", fields }] })];
  expect(parts.filter((part) => part.includes("field "))).toHaveLength(100);
});

const TYPES = Array.from({ length: 60 }, (_, i) => {
  const fields = Array.from({ length: 20 }, (__, j) => `f${j}(a: Int, b: T${(i + j) % 60}): [T${j}!]!`);
  return `input I${i} { x: Int } type T${i} { ${fields.join(" ").replaceAll(/b: T/g, "b: I")} }`;
});
let schema: GraphQLSchema;
beforeAll(() => {
  schema = buildSchema(`type Query { t: T0 } ${TYPES.join("\n")}`);
  introspectInTurns();
});

const DEEP = "__schema{types{name fields{name description type{name fields{name}}}}}";
const many = (count: number) => parse(`{${Array.from({ length: count }, (_, i) => `a${i}:${DEEP}`).join(" ")}}`);

function tell(document: ReturnType<typeof parse>, answerBytesMax: number, signal?: AbortSignal) {
  const held = new AnswerBudget({ answerBytesMax, answersBytesMax: answerBytesMax }).begin({});
  const request: RequestContext = { deadline: Number.POSITIVE_INFINITY, rowBytes: held, ...(signal && { signal }) };
  const introspection = Introspection.of(request);
  expect(Introspection.of({ ...request })).toBe(introspection);
  return { introspection, answer: execute({ schema, document, contextValue: introspection }) };
}

it("the schema is told as graphql-js tells it, a thousand fields a turn", async () => {
  const document = parse(getIntrospectionQuery());
  using counter = new TurnCounter();
  const { introspection, answer } = tell(document, 1e9);
  expect(await answer).toEqual(executeSync({ schema, document }));
  introspection.check();
  // 1,200 fields of ten values each, and two arguments each of as many.
  expect(counter.turns).toBeGreaterThan(25);
});

it("S10: what is told often is counted as it is made, and ends when it is too much", async () => {
  using counter = new TurnCounter();
  const { introspection, answer } = tell(many(440), 32 * 1024 * 1024);
  const { data, errors } = await answer;
  expect(() => introspection.check()).toThrow("more than 33554432 bytes");
  expect(errors).toBeUndefined();
  // Where it ended lists are empty, so little was made.
  expect(JSON.stringify(data).length).toBeLessThan(16 * 1024 * 1024);
  expect(counter.turns).toBeGreaterThan(25);
});

it("S10: it ends with its client", async () => {
  const client = new AbortController();
  const { introspection, answer } = tell(many(20), 1e9, client.signal);
  await new Promise((resolve) => setImmediate(resolve));
  client.abort(new Error("the client has gone"));
  using counter = new TurnCounter();
  await answer;
  expect(counter.turns).toBeLessThan(20);
  expect(() => introspection.check()).toThrow("the client has gone");
});
