import { ShoalError, SPEC_PROFILE } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { describe, expect, it } from "vitest";
import { GraphQlHandler } from "../handler.js";
import { library } from "../testing/ask-library.js";
import { LIBRARY_CLASSES, LibraryQuery, LibraryView, libraryClass, property } from "../testing/library.js";

/** Both ways to a response. */
const WAYS = [{ prepareQueries: true }, { prepareQueries: false }];

describe.each(WAYS)("Aggregate (%o)", (way) => {
  const open = () => library(way);

  it("answers every field of every data type", async () => {
    const { ask } = open();
    const { data, errors } = await ask(`{ Aggregate { Book {
      meta { count } groupedBy { path value }
      title { count type topOccurrences(limit: 2) { value occurs } }
      isbn { count } cover { type topOccurrences { occurs } }
      pages { count type minimum maximum sum mean median mode } price { mean type }
      inPrint { count type totalTrue totalFalse percentageTrue percentageFalse }
      published { count minimum maximum }
      tags { count type topOccurrences { value occurs } } ratings { maximum type } years { count sum mean type }
      flags { totalTrue percentageFalse type } writtenBy { type pointingTo }
    } } }`);
    expect(errors).toBeNull();
    expect(data.Aggregate.Book).toEqual([
      {
        meta: { count: 5 },
        groupedBy: null,
        title: {
          count: 4,
          type: "text",
          topOccurrences: [
            { value: 'War & "Peace"\n\\ \u2028 – ünï 🐟', occurs: 1 },
            { value: "x".repeat(500), occurs: 1 },
          ],
        },
        isbn: { count: 1 },
        cover: { type: "blob", topOccurrences: [{ occurs: 1 }] },
        pages: {
          count: 2,
          type: "int",
          minimum: -5,
          maximum: 3e9,
          sum: 2_999_999_995,
          mean: 1_499_999_997.5,
          median: -5,
          mode: -5,
        },
        price: { mean: 12.5, type: "number" },
        inPrint: { count: 1, type: "boolean", totalTrue: 1, totalFalse: 0, percentageTrue: 1, percentageFalse: 0 },
        published: { count: 1, minimum: "2020-01-01T00:00:00Z", maximum: "2020-01-01T00:00:00Z" },
        tags: {
          count: 2,
          type: "string[]",
          topOccurrences: [
            { value: "a", occurs: 1 },
            { value: 'b"]}', occurs: 1 },
          ],
        },
        ratings: { maximum: 2.5, type: "number[]" },
        years: { count: 0, sum: 0, mean: null, type: "int[]" },
        flags: { totalTrue: 1, percentageFalse: 0.5, type: "boolean[]" },
        writtenBy: { type: "cref", pointingTo: ["Author"] },
      },
    ]);
  });

  it("answers nothing as nothing: counts and sums 0, the rest null", async () => {
    const { ask } = library({ ...way, query: new LibraryQuery({}) });
    const { data } = await ask(`{ Aggregate { Book { meta { count } title { count topOccurrences { value } }
      pages { count sum minimum maximum mean median mode } published { count minimum maximum }
      inPrint { count totalTrue totalFalse percentageTrue percentageFalse } } } }`);
    expect(data.Aggregate.Book).toEqual([
      {
        meta: { count: 0 },
        title: { count: 0, topOccurrences: [] },
        pages: { count: 0, sum: 0, minimum: null, maximum: null, mean: null, median: null, mode: null },
        published: { count: 0, minimum: null, maximum: null },
        inPrint: { count: 0, totalTrue: 0, totalFalse: 0, percentageTrue: 0, percentageFalse: 0 },
      },
    ]);
  });

  it("groups, and hands the arguments to the query", async () => {
    const { ask, query } = open();
    const groups = `{ groupedBy { path value } meta { count } born { maximum } }`;
    const { data } = await ask(`{ Aggregate { Author(groupBy: ["born"], limit: 2) ${groups} } }`);
    expect(data.Aggregate.Author).toEqual([
      { groupedBy: { path: ["born"], value: "1800" }, meta: { count: 1 }, born: { maximum: 1800 } },
      { groupedBy: { path: ["born"], value: "1801" }, meta: { count: 1 }, born: { maximum: 1801 } },
    ]);
    await ask(`{ Aggregate { Author(groupBy: "born", limit: 2) ${groups} } }`);
    await ask(`query($g: [String], $n: Int) { Aggregate { Author(groupBy: $g, limit: $n) ${groups} } }`, {
      g: ["born"],
      n: 2,
    });
    await ask(`query($g: String, $n: Int) { Aggregate { Author(groupBy: [$g], limit: $n) ${groups} } }`, {
      g: "born",
      n: 2,
    });
    const born = {
      name: "born",
      numbers: true,
      distribution: false,
      topOccurrences: undefined,
      dates: false,
      booleans: false,
    };
    const asked = { className: "Author", where: undefined, groupBy: ["born"], limit: 2, properties: [born] };
    expect(query.asked).toEqual([asked, asked, asked, asked]);
    await ask("{ Aggregate { Author(groupBy: null, limit: null) { meta { count } } } }");
    await ask("{ Aggregate { Author(groupBy: []) { meta { count } } } }");
    expect(query.asked.slice(4)).toEqual([
      { ...asked, groupBy: undefined, limit: undefined, properties: [] },
      { ...asked, groupBy: [], limit: undefined, properties: [] },
    ]);
  });

  it("asks only for what the definition does not tell", async () => {
    const { ask, query } = open();
    const { data } = await ask(`{ Aggregate { Book {
      __typename title { type __typename } writtenBy { pointingTo } meta { __typename } groupedBy { path } } } }`);
    expect(data.Aggregate.Book).toEqual([
      {
        __typename: "AggregateBook",
        title: { type: "text", __typename: "AggregateBooktitleObj" },
        writtenBy: { pointingTo: ["Author"] },
        meta: { __typename: "AggregateBookMetaObject" },
        groupedBy: null,
      },
    ]);
    expect(query.asked).toMatchObject([{ properties: [] }]);
    const named = await ask("{ Aggregate { __typename Book { __typename title { __typename count } } } __typename }");
    expect(named.data).toEqual({
      Aggregate: {
        __typename: "AggregateObjectsObj",
        Book: [{ __typename: "AggregateBook", title: { __typename: "AggregateBooktitleObj", count: 4 } }],
      },
      __typename: "WeaviateObj",
    });
  });

  it("understands aliases and fragments: one question for a property, an answer for each", async () => {
    const { ask, query } = open();
    const { data, errors } = await ask(
      `query($n: Int = 1) { Aggregate { a: Author { ...f x: name { one: topOccurrences(limit: $n) { v: value } }
        ... on AggregateAuthor { name { c: count topOccurrences(limit: 2) { value occurs } none: topOccurrences(limit: 0) { value } } } }
        b: Author { m: meta { n: count } } } }
       fragment f on AggregateAuthor { born { mean } b2: born { median } }`,
    );
    expect(errors).toBeNull();
    expect(data.Aggregate).toEqual({
      a: [
        {
          born: { mean: 1801 },
          b2: { median: 1801 },
          x: { one: [{ v: "Leo" }] },
          name: {
            c: 3,
            topOccurrences: [
              { value: "Leo", occurs: 1 },
              { value: "Jörg", occurs: 1 },
            ],
            none: [],
          },
        },
      ],
      b: [{ m: { n: 3 } }],
    });
    expect(query.asked).toMatchObject([
      {
        properties: [
          { name: "born", numbers: true, distribution: true },
          { name: "name", topOccurrences: 2 },
        ],
      },
      { properties: [] },
    ]);
  });

  it("gives null, and the message as it is, for a class that fails", async () => {
    const { post } = open();
    for (const [args, message] of [
      ["(limit: -3)", 'limit must be 0 or more, got "-3"\n(é)'],
      ['(groupBy: ["a", null])', 'groupBy must name one property, as in ["name"]: element 1 is null'],
    ]) {
      const response = await post({
        query: `{\n  Aggregate { x: Book${args} { meta { count } } Author { meta { count } } } }`,
      });
      expect(response.status).toBe(200);
      expect(response.json).toEqual({
        data: { Aggregate: { x: null, Author: [{ meta: { count: 3 } }] } },
        errors: [{ locations: [{ column: 15, line: 2 }], message, path: ["Aggregate", "x"] }],
      });
    }
    const negative = await post({ query: "{ Aggregate { Book { title { topOccurrences(limit: -1) { value } } } } }" });
    expect(negative.json.errors).toEqual([
      {
        locations: [{ column: 15, line: 1 }],
        message: "property 'title' of class 'Book': the limit of topOccurrences must be 0 or more, got -1",
        path: ["Aggregate", "Book"],
      },
    ]);
  });

  it("knows no coordinates, no phone numbers and no class without properties", async () => {
    const { ask } = open();
    const message = async (text: string): Promise<string> => (await ask(text)).errors[0].message;
    expect(await message("{ Aggregate { Book { place { count } } } }")).toContain(
      'Cannot query field "place" on type "AggregateBook".',
    );
    expect(await message("{ Aggregate { Book { phone { count } } } }")).toContain('Cannot query field "phone"');
    expect(await message("{ Aggregate { Shelf_2 { meta { count } } } }")).toBe(
      'Cannot query field "Shelf_2" on type "AggregateObjectsObj".',
    );
    expect(await message("{ Aggregate { Book { published { type } } } }")).toContain('Cannot query field "type"');
    const bare = library({ ...way, schema: new LibraryView([libraryClass("Bare", [])]) });
    expect((await bare.ask("{ Aggregate { Bare { meta { count } } } }")).errors[0].message).toContain(
      'Cannot query field "Aggregate" on type "WeaviateObj".',
    );
    expect((await bare.ask("{ Get { Bare { _additional { id } } } }")).data).toEqual({ Get: { Bare: [] } });
  });

  it("loses a reference whose class is gone, and a property called meta is not seen", async () => {
    const { ask, schema } = open();
    const book = libraryClass("Book", [property("meta", "text"), property("writtenBy", "Author", "Gone")]);
    schema.change([book]);
    expect((await ask("{ Aggregate { Book { writtenBy { type } } } }")).errors[0].message).toContain(
      'Cannot query field "writtenBy"',
    );
    expect((await ask("{ Aggregate { Book { meta { count } } } }")).data.Aggregate.Book).toEqual([
      { meta: { count: 5 } },
    ]);
    schema.change([book, ...LIBRARY_CLASSES.slice(1)]);
    expect((await ask("{ Aggregate { Book { writtenBy { pointingTo } } } }")).data.Aggregate.Book).toEqual([
      { writtenBy: { pointingTo: ["Author", "Gone"] } },
    ]);
  });

  it("has its own fields instead of properties of their names, which Get answers", async () => {
    const { ask, schema } = open();
    schema.change([
      libraryClass(
        "Author",
        ["meta", "groupedBy", "name"].map((name) => property(name, "string")),
      ),
    ]);
    const { data } = await ask(
      '{ Get { Author(limit: 1) { meta groupedBy name } } Aggregate { Author(groupBy: "name", limit: 1) { meta { count } groupedBy { value } name { type } } } }',
    );
    expect(data).toEqual({
      Get: { Author: [{ meta: null, groupedBy: null, name: "Leo" }] },
      Aggregate: { Author: [{ meta: { count: 1 }, groupedBy: { value: "Leo" }, name: { type: "string" } }] },
    });
    expect((await ask("{ Aggregate { Author { meta { topOccurrences { value } } } } }")).errors[0].message).toBe(
      'Cannot query field "topOccurrences" on type "AggregateAuthorMetaObject".',
    );
  });

  it("writes no number that JSON has not", async () => {
    const query = new LibraryQuery();
    query.aggregate = async () => [
      {
        groupedBy: undefined,
        objectCount: 2,
        properties: [
          {
            kind: "numbers",
            count: 2,
            sum: Number.POSITIVE_INFINITY,
            minimum: -0,
            maximum: 5e-324,
            mean: Number.NaN,
            median: 1e21,
            mode: 0.1 + 0.2,
          },
        ],
      },
    ];
    const { post } = library({ ...way, query });
    const { text } = await post({ query: "{ Aggregate { Book { pages { sum minimum maximum mean median mode } } } }" });
    expect(text).toBe(
      '{"data":{"Aggregate":{"Book":[{"pages":{"sum":null,"minimum":0,"maximum":5e-324,"mean":null,"median":1e+21,"mode":0.30000000000000004}}]}},"errors":null}\n',
    );
  });

  it("keeps the text of its own faults to itself, and reports them", async () => {
    const faults: unknown[] = [];
    const query = new LibraryQuery();
    query.aggregate = () => Promise.reject(new TypeError("x is not a function"));
    query.explore = () => Promise.reject(new ShoalError("invalid", "no", {}));
    const { ask } = library({ ...way, query, onFault: (thrown) => faults.push(thrown) });
    const response = await ask("{ Aggregate { Book { meta { count } } } Explore { beacon } }");
    expect(response.data).toEqual({ Aggregate: { Book: null }, Explore: null });
    expect(response.errors.map((error: { message: string }) => error.message)).toEqual(["internal server error", "no"]);
    expect(faults).toHaveLength(1);
  });
});

it.each(WAYS)("S14: many top occurrences are written in steps (%o)", async (way) => {
  const topOccurrences = Array.from({ length: 100_000 }, (_, i) => ({ value: `value ${i}`, occurs: 1 }));
  const texts = { kind: "texts", count: 100_000, topOccurrences };
  const query: Partial<QueryService> = {
    aggregate: async ({ properties }) =>
      [{ groupedBy: undefined, objectCount: 1, properties: properties.map(() => texts) }] as never,
  };
  const schema = new LibraryView([libraryClass("Word", [property("text", "text")])]);
  const handler = new GraphQlHandler({
    ...{ schema, query: query as QueryService, wire: SPEC_PROFILE, ...way },
    onFault: (thrown) => expect.unreachable(String(thrown)),
  });
  const tops = Array.from({ length: 5 }, (_, i) => `a${i}: topOccurrences(limit: 1000000) { value occurs }`).join(" ");
  const body = Buffer.from(JSON.stringify({ query: `{ Aggregate { Word { text { ${tops} } } } }` }));
  const context = { deadline: Number.MAX_SAFE_INTEGER };
  await handler.execute(Buffer.from('{"query":"{__typename}"}'), context);
  using counter = new LoopCounter();
  const response = JSON.parse(String((await handler.execute(body, context)).body));
  expect(response.data.Aggregate.Word[0].text.a4).toEqual(topOccurrences);
  expect(counter.iterations).toBeGreaterThan(20);
});
