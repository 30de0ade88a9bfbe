import type { RequestContext } from "@shoal/runtime";
import { TurnCounter } from "@shoal/turn-counter";
import {
  buildSchema,
  execute,
  executeSync,
  type FieldNode,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  getIntrospectionQuery,
  type OperationDefinitionNode,
  parse,
} from "graphql";
import { beforeAll, expect, it } from "vitest";
import { AnswerBudget } from "../../answer-budget.js";
import type { ReadDocument } from "../reading/read-document.js";
import { Introspection, introspectInTurns } from "./introspect-in-turns.js";
import { answerParts, IntrospectionRequest } from "./introspection-call.js";
import { JsonBytes } from "./json-bytes.js";
import { Failure } from "./planned-call.js";

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
const aliases = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}:${field}`).join(" ");

function tell(document: ReturnType<typeof parse>, answerBytesMax: number, signal?: AbortSignal) {
  const held = new AnswerBudget({ answerBytesMax, answersBytesMax: answerBytesMax }).begin({});
  const request: RequestContext = { deadline: Number.POSITIVE_INFINITY, rowBytes: held, ...(signal && { signal }) };
  const introspection = new Introspection(request);
  return { introspection, answer: execute({ schema, document, contextValue: introspection }) };
}

it("introspection answers as graphql-js does, a thousand fields a turn", async () => {
  const document = parse(getIntrospectionQuery());
  using counter = new TurnCounter();
  const { introspection, answer } = tell(document, 1e9);
  expect(await answer).toEqual(executeSync({ schema, document }));
  introspection.check();
  // 1,200 fields of ten values each, and two arguments each of as many.
  expect(counter.turns).toBeGreaterThan(25);
});

it.each([
  ["deep lists", `{${aliases(440, DEEP)}}`],
  ["lists in one turn", `{${aliases(300, "__schema{types{name}}")}}`],
  ["what wraps others", `{__schema{types{fields{${aliases(60, `type{ofType{${aliases(60, "name")}}}`)}}}}}`],
  ["lists of lists", `{__schema{types{${aliases(200, "fields{name}")}}}}`],
])("S10: %s are counted as they are resolved, and end when it is too much", async (_, text) => {
  using counter = new TurnCounter();
  const { introspection, answer } = tell(parse(text), 1024 * 1024);
  const { data } = await answer;
  expect(() => introspection.check()).toThrow("more than 1048576 bytes");
  // Lists have ended, so little was made.
  expect(JSON.stringify(data).length).toBeLessThan(1024 * 1024);
  expect(counter.turns).toBeGreaterThan(1);
});

it("S10: it ends with its client", async () => {
  const client = new AbortController();
  const { introspection, answer } = tell(parse(`{${aliases(20, DEEP)}}`), 1e9, client.signal);
  await new Promise((resolve) => setImmediate(resolve));
  client.abort(new Error("the client has gone"));
  using counter = new TurnCounter();
  await answer;
  expect(counter.turns).toBeLessThan(20);
  expect(() => introspection.check()).toThrow("the client has gone");
});

it("S10: all of it is one execution, whose variables are coerced once", async () => {
  let coerced = 0;
  const counting = new GraphQLScalarType({ name: "Counted", parseValue: () => coerced++ });
  const type = new GraphQLObjectType({
    name: "Query",
    fields: { t: { type: GraphQLString, args: { c: { type: counting } } } },
  });
  const text = `query($c:Counted){t(c:$c) ${aliases(100, '__type(name:"Query"){name}')} __schema{queryType{name}}}`;
  const document = parse(text);
  const [operation] = document.definitions as [OperationDefinitionNode];
  const read = { document, operation, fragments: {} } as unknown as ReadDocument;
  const request = new IntrospectionRequest(new GraphQLSchema({ query: type }), read, { c: 1 });
  const nodes = operation.selectionSet.selections.slice(1) as FieldNode[];
  const calls = nodes.map((node) => request.call(node.alias?.value ?? node.name.value, [node]));
  const out = new JsonBytes(1_000_000);
  for (const { bound } of calls) {
    if (bound instanceof Failure) throw bound.thrown;
    for (const _ of (await bound.run(undefined as never, { deadline: Number.POSITIVE_INFINITY }))(out));
  }
  expect(coerced).toBe(1);
  expect(out.written.toString()).toBe('{"name":"Query"}'.repeat(100) + '{"queryType":{"name":"Query"}}');
});
