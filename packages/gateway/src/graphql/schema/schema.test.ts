import { LoopCounter } from "@shoal/runtime/testing/loop-counter";
import { buildClientSchema, getIntrospectionQuery, graphqlSync, lexicographicSortSchema, printSchema } from "graphql";
import { describe, expect, it } from "vitest";
import { DEFAULT_GRAPHQL_LIMITS } from "../limits.js";
import { library } from "../testing/ask-library.js";
import { buildGraphQlSchema } from "../testing/build-schema.js";
import { AUTHOR, BOOK, LIBRARY_CLASSES, LibraryView, libraryClass, property } from "../testing/library.js";
import { buildGraphQlSchemaInSteps } from "./build-schema.js";

describe("the schema", () => {
  it("is seen by introspection, with the reference's names", async () => {
    const { ask } = library();
    const { data } = await ask(`{ __schema { queryType { name } types { name } }
      __type(name: "GetObjectsObj") { fields { name type { kind ofType { name } } args { name type { name } } } } }`);
    expect(data.__schema.queryType.name).toBe("WeaviateObj");
    const names = data.__schema.types.map((type: { name: string }) => type.name);
    for (const name of [
      "GetObjectsObj",
      "Book",
      "BookAdditional",
      "BookAdditionalClassification",
      "BookWrittenByObj",
      "Beacon",
      "BookplaceGeoCoordinatesObj",
      "BookphonePhoneNumberObj",
      "GetObjectsBookNearVectorInpObj",
      "GetObjectsBookNearObjectInpObj",
      "Int",
      "Float",
    ]) {
      expect(names).toContain(name);
    }
    expect(data.__type.fields[0]).toEqual({
      name: "Book",
      type: { kind: "LIST", ofType: { name: "Book" } },
      args: [
        { name: "limit", type: { name: "Int" } },
        { name: "offset", type: { name: "Int" } },
        { name: "where", type: { name: "GetObjectsBookWhereInpObj" } },
        { name: "nearVector", type: { name: "GetObjectsBookNearVectorInpObj" } },
        { name: "nearObject", type: { name: "GetObjectsBookNearObjectInpObj" } },
        { name: "group", type: { name: "GetObjectsBookGroupInpObj" } },
      ],
    });
  });

  it("is whole for whoever asks for all of it, as tools do", async () => {
    const { ask } = library();
    const { data, errors } = await ask(getIntrospectionQuery());
    expect(errors).toBeNull();
    const { schema } = buildGraphQlSchema(LIBRARY_CLASSES, DEFAULT_GRAPHQL_LIMITS);
    if (schema === undefined) throw new Error("no schema of the library");
    const rebuilt = buildClientSchema(data);
    expect(printSchema(lexicographicSortSchema(rebuilt))).toBe(printSchema(lexicographicSortSchema(schema)));
  });

  it("follows changes, and keeps prepared queries when no definition changed", async () => {
    const { ask, schema } = library();
    const text = "{ Get { Magazine { name } } }";
    expect((await ask(text)).errors[0].message).toContain('Cannot query field "Magazine"');
    schema.change([BOOK, AUTHOR, libraryClass("Magazine", [property("name", "text")])]);
    expect(await ask(text)).toEqual({ data: { Get: { Magazine: [] } }, errors: null });
    schema.change([BOOK, AUTHOR]);
    expect((await ask(text)).errors[0].message).toContain('Cannot query field "Magazine"');
    schema.change([]);
    expect((await ask(text)).error[0].message).toContain("no graphql provider present");
  });

  it("follows changes of classes that others refer to, over several steps", async () => {
    const { ask, schema } = library();
    const shelf = libraryClass("Shelf_2", [property("holds", "Book")]);
    const through = (inner: string) =>
      ask(`{ Get { Shelf_2 { holds { ... on Book { writtenBy { ... on Author { ${inner} } } } } } } }`);
    const nothing = { data: { Get: { Shelf_2: [{ holds: null }] } }, errors: null };
    schema.change([shelf, BOOK, AUTHOR, libraryClass("Other", [])]);
    expect(await through("name")).toEqual(nothing);
    const author = libraryClass("Author", [property("name", "string"), property("died", "int")]);
    schema.change([shelf, BOOK, author, libraryClass("Other", [])]);
    expect(await through("died")).toEqual(nothing);
    schema.change([shelf, BOOK]);
    expect((await through("died")).errors[0].message).toContain('Cannot query field "writtenBy"');
    expect(await ask("{ Get { Shelf_2 { holds { ... on Book { title } } } } }")).toEqual(nothing);
    schema.change([shelf, BOOK, AUTHOR]);
    expect(await through("name")).toEqual(nothing);
    expect((await through("died")).errors[0].message).toContain('Cannot query field "died"');
  });

  it("loses a reference whose class is gone, not the class", async () => {
    const { ask } = library({ schema: new LibraryView([BOOK]) });
    expect((await ask("{ Get { Book(limit: 1) { isbn } } }")).data).toEqual({ Get: { Book: [{ isbn: "" }] } });
    const gone = await ask("{ Get { Book { writtenBy { ... on Beacon { beacon } } } } }");
    expect(gone.errors[0].message).toContain('Cannot query field "writtenBy" on type "Book".');
  });

  it("leaves out a class that cannot be built, and no other", async () => {
    const skipped: string[] = [];
    const classes = [
      BOOK,
      AUTHOR,
      libraryClass("BookAdditional", []),
      libraryClass("WeaviateObj", []),
      libraryClass("Bad-Name", []),
      libraryClass("Odd", [
        property("bad-name", "text"),
        property("__x", "text"),
        property("ok", "text"),
        property("y", "z"),
      ]),
    ];
    const { ask } = library({
      schema: new LibraryView(classes),
      onSkippedClass: ({ className, reason }) => skipped.push(`${className}: ${reason}`),
    });
    expect(await ask("{ Get { Odd { ok } Author(limit: 1) { name } } }")).toEqual({
      data: { Get: { Odd: [], Author: [{ name: "Leo" }] } },
      errors: null,
    });
    expect(skipped).toEqual([
      "BookAdditional: its GraphQL type 'BookAdditional' collides with a type of class 'Book'",
      "WeaviateObj: its GraphQL type 'WeaviateObj' collides with a type of the GraphQL schema itself",
      "Bad-Name: 'Bad-Name' is not a name that GraphQL allows",
    ]);
  });
});

describe("a schema of many classes", () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) =>
      libraryClass(`Many${i}`, [property("name", "text"), property("next", `Many${(i * 7 + 1) % count}`)]),
    );

  it("is built in steps of few types, and is the same", () => {
    const classes = many(300);
    const parts = [classes, DEFAULT_GRAPHQL_LIMITS] as const;
    const building = buildGraphQlSchemaInSteps(...parts);
    let steps = 1;
    let step = building.next();
    for (; step.done !== true; step = building.next()) steps += 1;
    const { schema } = step.value;
    const types = Object.keys(schema?.getTypeMap() ?? {}).length;
    expect(types).toBeGreaterThan(300 * 20);
    expect(steps).toBeGreaterThan(types / 1_000);
    const atOnce = buildGraphQlSchema(...parts).schema;
    expect(schema && printSchema(schema)).toBe(atOnce && printSchema(atOnce));
  });

  it("has its fields made before its types are collected", () => {
    const reads: string[] = [];
    const classes = many(50).map((definition) => ({
      ...definition,
      get properties() {
        reads.push(definition.class);
        return definition.properties;
      },
    }));
    const parts = [classes, DEFAULT_GRAPHQL_LIMITS] as const;
    const building = buildGraphQlSchemaInSteps(...parts);
    let before = 0;
    for (let step = building.next(); step.done !== true; step = building.next()) before = reads.length;
    expect(reads.length - before).toBeLessThan(reads.length / 4);
  });

  it("is told by introspection in steps of few types, also when many ask", async () => {
    const classes = many(100);
    const { ask } = library({ schema: new LibraryView(classes) });
    const parts = [classes, DEFAULT_GRAPHQL_LIMITS] as const;
    const { schema } = buildGraphQlSchema(...parts);
    const types = Object.keys(schema?.getTypeMap() ?? {}).length;
    await ask("{ __typename }");
    using counter = new LoopCounter();
    const responses = await Promise.all([ask(getIntrospectionQuery()), ask(getIntrospectionQuery())]);
    expect(counter.iterations).toBeGreaterThan((2 * types) / 128);
    for (const { data, errors } of responses) {
      expect(errors).toBeNull();
      expect(schema && data).toEqual(schema && graphqlSync({ schema, source: getIntrospectionQuery() }).data);
    }
  });

  it("answers whoever asks while it is being built with what was known when they asked, or newer", async () => {
    const schema = new LibraryView(many(300));
    const { ask } = library({ schema });
    const last = "{ Get { Many299 { name } } }";
    const empty = (name: string) => ({ data: { Get: { [name]: [] } }, errors: null });
    const first = ask(last);
    // The schema changes while the first one is being built.
    schema.change([...many(300), libraryClass("Newer", [property("name", "text")])]);
    const second = ask("{ Get { Newer { name } } }");
    const third = ask(last);
    expect(await Promise.all([first, second, third])).toEqual([empty("Many299"), empty("Newer"), empty("Many299")]);
    schema.change([BOOK, AUTHOR]);
    expect((await ask(last)).errors[0].message).toContain('Cannot query field "Many299"');
  });
});
