import { shortestFloat32, WEAVIATE_PROFILE } from "@shoal/model";
import { expect, it, vi } from "vitest";
import { GraphQlHandler } from "../handler.js";
import { BOOK, LIBRARY_CLASSES, LibraryQuery, LibraryView, storedObject } from "../testing/library.js";
import { LiteralBindings } from "./bind-literals.js";
import { PreparedQueries } from "./prepared-queries.js";
import { TemplateCache } from "./template-cache.js";

const CONTEXT = { deadline: Number.MAX_SAFE_INTEGER };

/** Sends the bodies one after another to a handler that prepares and to one that does not. */
async function compare(...bodies: readonly (string | object)[]) {
  const query = new LibraryQuery();
  const shared = { onFault: () => {}, schema: new LibraryView(LIBRARY_CLASSES), wire: WEAVIATE_PROFILE };
  const prepared = new GraphQlHandler({ ...shared, query });
  const plain = new GraphQlHandler({ ...shared, query: new LibraryQuery(), prepareQueries: false });
  const responses: string[] = [];
  let preparedCount = 0;
  for (const body of bodies) {
    const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    const expected = await plain.execute(bytes, CONTEXT);
    const execute = vi.spyOn(PreparedQueries.prototype, "execute");
    const got = await prepared.execute(bytes, CONTEXT);
    if (execute.mock.results[0]?.value !== undefined) preparedCount++;
    execute.mockRestore();
    expect(got.body.toString(), bytes.toString()).toBe(expected.body.toString());
    responses.push(got.body.toString());
  }
  return { responses, preparedCount, query };
}

const query = (text: string) => ({ query: text });

it("prepares what differs in literals only", async () => {
  const get = (limit: number, vector: string, id: string) =>
    query(`{ Get { a: Book(limit: ${limit}, nearVector: {vector: ${vector}}) { title }
      b: Author(nearObject: {id: "${id}"}) { ...f } } } fragment f on Author { name }`);
  const { preparedCount, query: asked } = await compare(
    get(1, "[0.1, 2]", "x"),
    get(2, "[3,\n4 , 5]", "ÿ"),
    get(3, "[-1 2]", ""),
  );
  expect(preparedCount).toBe(3);
  expect(asked.asked.map((each) => each.limit)).toEqual([1, undefined, 2, undefined, 3, undefined]);
  expect(asked.gets[2]?.nearVector?.vector).toEqual(Float32Array.of(3, 4, 5));
  expect(asked.gets[3]?.nearObject?.id).toBe("ÿ");
});

it("prepares variables of every shape, also nested and by default", async () => {
  const text =
    "query q($near: GetObjectsBookNearVectorInpObj, $n: Int = 2, $yes: Boolean = true) " +
    "{ Get { Book(nearVector: $near, limit: $n) { title @include(if: $yes) isbn } } }";
  const body = (variables: object) => ({ operationName: "q", variables, query: text });
  const { preparedCount } = await compare(
    body({ near: { vector: [1, 2], certainty: 0.5 } }),
    body({ near: { vector: [3, 4], certainty: 0.25 } }),
    body({ near: { vector: [3, 4], certainty: 0.25 }, yes: false }),
    body({ near: null, n: 3 }),
    body({ n: 3 }),
    // Left to graphql-js: a literal of the default value that is not used.
    body({ near: { vector: [3, 4] }, n: null }),
    body({ near: { vector: 3 } }),
    body({ near: { vector: [1, 2], other: 5 } }),
    body({ n: 1.5 }),
    body({ n: "x" }),
  );
  expect(preparedCount).toBe(3);
});

it.each([
  ["Get{Author(limit:1){name @skip(if:$c)}}", ["Get", "Author"]],
  ["Get{Author(limit:1){name @include(if:$c)}}", ["Get", "Author"]],
  ["Get{Author{name __typename @skip(if:$c)}}", ["Get", "Author"]],
  ["Get{Author{name ...f @skip(if:$c)}}", ["Get", "Author"]],
  ["Get{Author{... @include(if:$c){name}}}", ["Get", "Author"]],
  ["Get{Book(limit:1){writtenBy{... on Author{name @skip(if:$c)}}}}", ["Get", "Book"]],
  ["Get{Book(limit:1){_additional{id @skip(if:$c)}}}", ["Get", "Book"]],
  ["Get{Author @skip(if:$c){name}}", ["Get"]],
  ["Get @skip(if:$c){Author{name}}", null],
  ["Aggregate{Author{born{sum @skip(if:$c)}}}", ["Aggregate", "Author"]],
  ["Aggregate{Author{meta{count @skip(if:$c)}}}", ["Aggregate", "Author", "0", "meta"]],
  ["Aggregate @include(if:$c){Author{meta{count}}}", null],
  ["Explore(nearVector:{vector:[1,2]}){beacon @skip(if:$c)}", ["Explore", "0"]],
  ["Explore(nearVector:{vector:[1,2]})@skip(if:$c){beacon}", null],
])("leaves a directive without a condition to graphql-js: %s", async (field, path) => {
  const fragment = field.includes("...f") ? " fragment f on Author{born}" : "";
  const text = `query($c:Boolean=false){${field}}${fragment}`;
  const body = (variables: object) => ({ query: text, variables });
  const { responses } = await compare(body({ c: null }), body({ c: true }), body({ c: null }), body({}));
  for (const response of [responses[0], responses[2]]) {
    const [error] = JSON.parse(response ?? "").errors;
    expect([error.message, error.path]).toEqual(['Argument "if" of non-null type "Boolean!" must not be null.', path]);
  }
  expect(responses[3]).not.toContain("must not be null");
});

it("answers and reports what breaks while a query is prepared", async () => {
  const faults: unknown[] = [];
  const schema = new LibraryView(LIBRARY_CLASSES);
  const shared = { schema, wire: WEAVIATE_PROFILE, query: new LibraryQuery() };
  const handler = new GraphQlHandler({ ...shared, onFault: (thrown) => faults.push(thrown) });
  const broken = vi.spyOn(LiteralBindings, "of").mockImplementation(() => {
    throw new TypeError("x is not a function");
  });
  const { body } = await handler.execute(Buffer.from(JSON.stringify(query("{Get{Author(limit:1){name}}}"))), CONTEXT);
  broken.mockRestore();
  expect(body.toString()).toBe('{"data":{"Get":{"Author":[{"name":"Leo"}]}}}\n');
  expect(faults).toEqual([new TypeError("x is not a function")]);
});

it("does not trust a literal that nobody binds: its value may decide about validity", async () => {
  const twice = (a: number, b: number) => query(`{ Get { Book(limit: ${a}) { title } Book(limit: ${b}) { isbn } } }`);
  const { responses, preparedCount } = await compare(twice(1, 1), twice(1, 2), twice(2, 2));
  expect(preparedCount).toBe(0);
  expect(responses[1]).toContain("they have differing arguments");
});

it("binds variables to the right members when a name stands twice", async () => {
  const text = JSON.stringify("query($a: Int, $b: Int) { Get { Book(limit: $a, offset: $b) { title } } }");
  const body = (b: number, a: number) => `{"query":${text},"variables":{"a":true,"b":${b},"a":${a}}}`;
  await compare(body(2, 2), body(1, 3), body(3, 1));
});

it("decides by kind, not by the first request of a template", async () => {
  const limit = (value: string) => query(`{ Get { Book(limit: ${value}) { isbn } } }`);
  const { preparedCount } = await compare(
    limit("9999999999999999999999"),
    limit("1"),
    limit("1.5"),
    limit('"1"'),
    limit("[1]"),
    limit("null"),
    limit("-1"),
    limit("2"),
  );
  expect(preparedCount).toBe(4);
});

it("leaves the unusual to graphql-js", async () => {
  const { preparedCount } = await compare(
    query("{ __schema { queryType { name } } }"),
    query('{ Get { Book(nearObject: {id: """x"""}) { title } } }'),
    query('{ Get { Book(nearObject: {id: "a\\"b"}) { title } } }'),
    { query: "{ Get { Book { isbn } } }", extensions: {} },
    '{"query":"{ Get { Book { isbn } } }","query":"{ Get { Author { name } } }"}',
    '{"query":"{ Get { B\\u006fok { isbn } } }"}',
    '\u0000{"query":"{ Get { Book { isbn } } }"}',
    '{"query":"{ Get { Book { isbn } } }"} x',
    '{"query":"{ Get { Book { isbn } } }",}',
    '{"query":"query($v:[Float]!){Get{Book(nearVector:{vector:$v}){isbn}}}","variables":{"v":[1,2,]}}',
    '{"query":"query($v:[Float]!){Get{Book(nearVector:{vector:$v}){isbn}}}","variables":{"v":[1,\u000b2]}}',
    '{"query":"query($v:[Float]!){Get{Book(nearVector:{vector:$v}){isbn}}}","variables":{"v":[1 2]}}',
  );
  expect(preparedCount).toBe(0);
});

it("keeps comments and every spelling of white space", async () => {
  const { preparedCount } = await compare(
    query('\t{ # a "comment" 1 [2]\r\n Get\n{ Book(limit: 1 # }\n) { isbn } } } # end \\" 5'),
    '\n{ "operationName" : null , "variables" : { } , "query" : "{ Get { Book(limit:1) { isbn } } }" }\r\n',
  );
  expect(preparedCount).toBe(2);
});

it("answers requests that overlap each from its own literals", async () => {
  const pending: (() => void)[] = [];
  const library = new LibraryQuery();
  const handler = new GraphQlHandler({
    onFault: () => {},
    schema: new LibraryView(LIBRARY_CLASSES),
    wire: WEAVIATE_PROFILE,
    query: {
      get: async (get) => {
        await new Promise<void>((resolve) => pending.push(resolve));
        return library.get(get);
      },
      explore: (explore) => library.explore(explore),
      aggregate: (aggregate) => library.aggregate(aggregate),
      objectById: () => library.objectById(),
      list: () => library.list(),
      additional: () => library.additional(),
    },
  });
  const send = (limit: number, first: number) =>
    handler.execute(
      Buffer.from(
        JSON.stringify(query(`{ Get { Book(limit: ${limit}, nearVector: {vector: [${first}, 0.5]}) { isbn } } }`)),
      ),
      CONTEXT,
    );
  const responses = [send(1, 0.25), send(2, 0.5), send(3, 0.75)];
  for (const resolve of pending.reverse()) resolve();
  const rows = (await Promise.all(responses)).map(({ body }) => JSON.parse(body.toString()).data.Get.Book.length);
  expect(rows).toEqual([1, 2, 3]);
  expect(library.gets.map((each) => each.nearVector?.vector[0])).toEqual([0.75, 0.5, 0.25]);
});

it("answers a directive without a condition where an object below a row has it, each time", async () => {
  const text = `query($c: Boolean = false) { Get { Book(limit: 2) { title place { latitude @skip(if: $c) }
    writtenBy { ... on Author { name _additional { id @skip(if: $c) } } }
    _additional { id classification { id @skip(if: $c) } } } }
    Aggregate { Author(groupBy: "born", limit: 2) { meta { count @skip(if: $c) }
      name { topOccurrences(limit: 1) { value @skip(if: $c) } } groupedBy { value } } }
    s: __schema { queryType { name fields { name @skip(if: $c) } } } }`;
  const { responses } = await compare({ query: text, variables: { c: null } });
  const { data, errors } = JSON.parse(responses[0] ?? "");
  const message = 'Argument "if" of non-null type "Boolean!" must not be null.';
  expect(errors.every((error: { message: string }) => error.message === message)).toBe(true);
  expect(errors.map(({ path }: { path: readonly string[] }) => path.join("."))).toEqual([
    "Get.Book.0.place",
    "Get.Book.1.place",
    "Get.Book.0.writtenBy.0._additional",
    "Get.Book.0.writtenBy.1._additional",
    "Get.Book.0._additional.classification",
    "Aggregate.Author.0.meta",
    "Aggregate.Author.1.meta",
    "Aggregate.Author.0.name.topOccurrences.0",
    "Aggregate.Author.1.name.topOccurrences.0",
    "s.queryType.fields.0",
  ]);
  expect(data.Get.Book[0].writtenBy[0]).toEqual({ name: "Jörg", _additional: null });
  expect(data.Aggregate.Author[1]).toEqual({
    meta: null,
    name: { topOccurrences: [null] },
    groupedBy: { value: "1801" },
  });
  expect(data.s).toEqual({ queryType: { name: "WeaviateObj", fields: null } });
  const nothing = "query($c: Boolean = false) { Get { Author { name } } __schema { types { name @skip(if: $c) } } }";
  const all = await compare({ query: nothing, variables: { c: null } });
  expect(JSON.parse(all.responses[0] ?? "")).toEqual({ data: null, errors: [expect.objectContaining({ message })] });
});

it("answers objects of which nothing is selected", async () => {
  const { responses } = await compare(
    query("{ Get { Book(limit: 1) { title @skip(if: true) } } }"),
    query("{ Get { Book(limit: 1) { place { latitude @skip(if: true) } _additional { id @skip(if: true) } } } }"),
    query('{ Aggregate { Author(groupBy: "born", limit: 1) { meta { count @skip(if: true) } } } }'),
    query("{ Get { Author @skip(if: true) { name } } }"),
    query("{ Get @skip(if: true) { Author { name } } }"),
  );
  expect(responses.map((response) => JSON.parse(response).data)).toEqual([
    { Get: { Book: [{}] } },
    { Get: { Book: [{ place: {}, _additional: null }] } },
    { Aggregate: { Author: [{ meta: {} }] } },
    { Get: {} },
    {},
  ]);
});

it("answers stored integers as they are, whatever their size, through both doors", async () => {
  const stored = storedObject("Book", 0, {}, { propertiesJson: Buffer.from('{"pages":9007199254740993}') });
  for (const prepareQueries of [true, false]) {
    const handler = new GraphQlHandler({
      ...{ onFault: () => {}, schema: new LibraryView([BOOK]), wire: WEAVIATE_PROFILE, prepareQueries },
      query: new LibraryQuery({ Book: [stored] }),
    });
    const { body } = await handler.execute(Buffer.from(JSON.stringify(query("{ Get { Book { pages } } }"))), CONTEXT);
    expect(body.toString()).toBe('{"data":{"Get":{"Book":[{"pages":9007199254740993}]}}}\n');
  }
});

it.each([true, false])("answers a damaged row with an error, and the other classes (%s)", async (prepareQueries) => {
  const damaged = storedObject("Book", 1, {}, { propertiesJson: Buffer.from('{"title":"x') });
  const handler = new GraphQlHandler({
    onFault: () => {},
    schema: new LibraryView([BOOK]),
    wire: WEAVIATE_PROFILE,
    query: new LibraryQuery({ Book: [storedObject("Book", 0, { title: "x" }), damaged] }),
    prepareQueries,
  });
  const body = Buffer.from(JSON.stringify(query("{ Get { a: Book(limit: 1) { title }\nBook { title } } }")));
  expect(JSON.parse((await handler.execute(body, CONTEXT)).body.toString())).toEqual({
    data: { Get: { a: [{ title: "x" }], Book: null } },
    errors: [
      {
        locations: [{ line: 2, column: 1 }],
        message: "the stored properties of an object are no JSON object",
        path: ["Get", "Book"],
      },
    ],
  });
});

it("writes answers larger than its buffer", async () => {
  const large = storedObject(
    "Book",
    0,
    { title: "ü".repeat(3_000_000) },
    { vector: new Float32Array(65_535).fill(-1.2345678e-20) },
  );
  const handler = new GraphQlHandler({
    onFault: () => {},
    schema: new LibraryView([BOOK]),
    wire: WEAVIATE_PROFILE,
    query: new LibraryQuery({ Book: [large] }),
  });
  const body = Buffer.from(JSON.stringify(query("{ Get { Book { title _additional { vector } } } }")));
  for (let repeat = 0; repeat < 2; repeat++) {
    const response = JSON.parse((await handler.execute(body, CONTEXT)).body.toString());
    expect(response.data.Get.Book[0].title.length).toBe(3_000_000);
    expect(response.data.Get.Book[0]._additional.vector.length).toBe(65_535);
  }
});

it("lets others in while it writes a large answer", async () => {
  const rows = Array.from({ length: 2_000 }, (_, i) =>
    storedObject("Book", i % 250, { title: `t${i}` }, { vector: new Float32Array(500).fill(i / 7) }),
  );
  const handler = new GraphQlHandler({
    onFault: () => {},
    schema: new LibraryView(LIBRARY_CLASSES),
    wire: WEAVIATE_PROFILE,
    query: new LibraryQuery({ Book: rows, Author: [storedObject("Author", 0, { name: "x" })] }),
  });
  const send = async (text: string) => (await handler.execute(Buffer.from(JSON.stringify(query(text))), CONTEXT)).body;
  const finished: string[] = [];
  const large = send("{ Get { Book(limit: 2000) { title _additional { vector } } } }").then((body) => {
    finished.push("large");
    return JSON.parse(body.toString()).data.Get.Book;
  });
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    const small = await send("{ Get { Author { name } } }");
    expect(small.toString()).toBe('{"data":{"Get":{"Author":[{"name":"x"}]}}}\n');
    finished.push("small");
  }
  expect(await large).toEqual(
    rows.map(({ vector }, i) => ({
      title: `t${i}`,
      _additional: { vector: Array.from(vector ?? [], shortestFloat32) },
    })),
  );
  expect(finished).toEqual(["small", "small", "small", "large"]);
});

it("forgets templates that were not used for longest", () => {
  const cache = new TemplateCache<number>(4, 1_000);
  for (let i = 0; i < 20; i++) {
    cache.set(`t${i}`, i);
    expect(cache.get("t0")).toBe(0);
  }
  expect(cache.get("t19")).toBe(19);
  expect([...Array(20).keys()].filter((i) => cache.get(`t${i}`) !== undefined).length).toBeLessThanOrEqual(4);
});

it("keeps fewer templates when they are long", () => {
  const cache = new TemplateCache<number>(100, 1_000);
  const key = (at: number, chars: number): string => `${at} `.padEnd(chars, "x");
  const kept = (count: number, chars: number): number =>
    [...Array(count).keys()].filter((at) => cache.get(key(at, chars)) !== undefined).length;
  for (let at = 0; at < 40; at++) cache.set(key(at, 10), at);
  expect(kept(40, 10)).toBe(40);
  for (let at = 0; at < 40; at++) cache.set(key(at, 200), at);
  expect(cache.get(key(39, 200))).toBe(39);
  expect(kept(40, 10) + kept(40, 200)).toBeLessThanOrEqual(5);
});
