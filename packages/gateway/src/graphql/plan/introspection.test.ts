import { SPEC_PROFILE } from "@shoal/model";
import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { type SeededRandom, seededRandom } from "@shoal/seeded-random";
import {
  executeSync,
  type GraphQLObjectType,
  getIntrospectionQuery,
  getNamedType,
  introspectionTypes,
  isObjectType,
  parse,
} from "graphql";
import { beforeAll, expect, it } from "vitest";
import { GraphQlHandler } from "../handler.js";
import { DEFAULT_GRAPHQL_LIMITS } from "../limits.js";
import { CONTEXT, library } from "../testing/ask-library.js";
import { buildGraphQlSchema } from "../testing/build-schema.js";
import { LIBRARY_CLASSES, LibraryQuery, LibraryView, libraryClass, property } from "../testing/library.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261127);

const [SCHEMA, , TYPE] = ["__Schema", "__Directive", "__Type"].map(
  (name) => introspectionTypes.find((type) => type.name === name) as GraphQLObjectType,
) as [GraphQLObjectType, GraphQLObjectType, GraphQLObjectType];

/** Queries about the schema; some fail where a condition or an argument is null. */
class Questions {
  constructor(private readonly random: SeededRandom) {}

  text(): string {
    const roots = Array.from({ length: 1 + this.random.below(3) }, (_, i) => {
      const name = this.random.pick(['"Book"', '"GetObjectsObj"', '"Nothing"', '"__Type"', '"Int"', "$name", "$name"]);
      return this.random.next() < 0.3
        ? `s${i}: __schema${this.when()} ${this.selection(SCHEMA, 0)}`
        : `t${i}: __type(name: ${name})${this.when()} ${this.selection(TYPE, 0)}`;
    });
    return `query($c: Boolean = true, $name: String! = "Author") {${roots.join(" ")}}`;
  }

  private selection(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields());
    const members = Array.from({ length: 1 + this.random.below(3) }, (_, i) => {
      const field = this.random.pick(fields);
      const below = getNamedType(field.type);
      if (this.random.next() < 0.1 || (isObjectType(below) && depth > 2))
        return `n${i}${depth}: __typename${this.when()}`;
      const args =
        field.args.length === 0 ? "" : this.random.pick(["", "(includeDeprecated: true)", "(includeDeprecated: $c)"]);
      const inner = isObjectType(below) ? this.selection(below, depth + 1) : "";
      const text = `${this.random.pick(["", `a${i}${depth}: `])}${field.name}${args}${this.when()}${inner}`;
      return this.random.next() < 0.1 ? `... on ${type.name}${this.when()} {${text}}` : text;
    });
    return `{${[...new Set(members)].join(" ")}}`;
  }

  private when(): string {
    return this.random.next() < 0.93
      ? ""
      : this.random.pick([" @skip(if: false)", " @skip(if: $c)", " @include(if: $c)"]);
  }
}

it(`answers as graphql-js does, errors included (seed ${SEED})`, async () => {
  const { ask } = library();
  const { schema } = buildGraphQlSchema(LIBRARY_CLASSES, DEFAULT_GRAPHQL_LIMITS);
  if (schema === undefined) throw new Error("the library has classes");
  const random = seededRandom(SEED);
  const questions = new Questions(random);
  const seen = { responded: 0, failed: 0, nothing: 0 };
  for (let round = 0; round < 3_000; round++) {
    const text = questions.text();
    const variables = random.pick([{}, { c: null }, { c: false }, { name: "Book", c: null }]);
    const got = await ask(text, variables);
    if (!("data" in got)) continue;
    const expected = executeSync({ schema, document: parse(text), variableValues: variables });
    expect({ text, variables, data: JSON.stringify(got.data) }).toEqual({
      ...{ text, variables, data: JSON.stringify(expected.data) },
    });
    const errors = (expected.errors ?? []).map(({ message, locations, path }) =>
      JSON.stringify({
        locations: locations?.map(({ column, line }) => ({ column, line })),
        message,
        path: path?.map(String) ?? null,
      }),
    );
    // Ours stand in the order of the text. Where nothing is answered, graphql-js looks at no field behind that.
    const found: readonly string[] = (got.errors ?? []).map((error: unknown) => JSON.stringify(error));
    const compared = got.data === null ? found.filter((error) => errors.includes(error)) : found;
    expect({ text, variables, errors: [...compared].sort() }).toEqual({ text, variables, errors: errors.sort() });
    if (errors.length === 0) seen.responded++;
    else if (got.data === null) seen.nothing++;
    else seen.failed++;
  }
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(50);
});

const MANY = Array.from({ length: 60 }, (_, i) =>
  libraryClass(`Many${i}`, [property("name", "text"), property("place", "geoCoordinates")]),
);
let schema: LibraryView;
beforeAll(() => {
  schema = new LibraryView(MANY);
});

const DEEP = "__schema{types{name fields{name description type{name fields{name}}}}}";
const aliases = (count: number, field: string) => Array.from({ length: count }, (_, i) => `a${i}:${field}`).join(" ");

it("introspection answers a thousand fields a step", async () => {
  const { ask } = library({ schema });
  await ask("{__typename}");
  using counter = new LoopCounter();
  const { data } = await ask(getIntrospectionQuery());
  const names = JSON.stringify(data).match(/":/g) ?? [];
  expect(counter.iterations).toBeGreaterThan(names.length / 1_100);
});

it.each([
  ["deep lists", `{${aliases(440, DEEP)}}`],
  ["lists in one turn", `{${aliases(300, "__schema{types{name}}")}}`],
  ["what wraps others", `{__schema{types{fields{${aliases(30, `type{ofType{${aliases(30, "name")}}}`)}}}}}`],
  ["lists of lists", `{__schema{types{${aliases(200, "fields{name}")}}}}`],
])("S10: %s are counted as they are written, and end when it is too much", async (_, text) => {
  const bytes = 1024 * 1024;
  const { ask } = library({ schema, limits: { answerBytesMax: bytes, answersBytesMax: bytes } });
  await ask("{__typename}");
  using counter = new LoopCounter();
  const { errors } = await ask(text);
  expect(errors[0].message).toContain("more than 1048576 bytes");
  expect(counter.iterations).toBeGreaterThan(1);
});

it("S10: it ends with its client", async () => {
  const client = new AbortController();
  const handler = new GraphQlHandler({ schema, query: new LibraryQuery(), wire: SPEC_PROFILE, onFault: () => {} });
  const body = Buffer.from(JSON.stringify({ query: `{${aliases(20, DEEP)}}` }));
  await handler.execute(Buffer.from('{"query":"{__typename}"}'), CONTEXT);
  const response = handler.execute(body, { ...CONTEXT, signal: client.signal });
  response.catch(() => undefined);
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  client.abort(new Error("the client has gone"));
  using counter = new LoopCounter();
  await expect(response).rejects.toThrow("the client has gone");
  expect(counter.iterations).toBeLessThan(20);
});
