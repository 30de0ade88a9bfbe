import { SPEC_PROFILE, WEAVIATE_PROFILE } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { createGraphQlHandler, type GraphQlHandlerDeps } from "./handler.js";
import {
  AUTHOR,
  BOOK,
  LIBRARY_CLASSES,
  LIBRARY_OBJECTS,
  LibraryQuery,
  LibraryView,
  libraryClass,
  property,
} from "./testing/library.js";

const CONTEXT = { deadline: Number.MAX_SAFE_INTEGER };

function library(deps: Partial<GraphQlHandlerDeps> = {}) {
  const query = new LibraryQuery();
  const schema = new LibraryView(LIBRARY_CLASSES);
  const handler = createGraphQlHandler({ schema, query, wire: SPEC_PROFILE, ...deps });
  const post = async (body: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const answer = await handler.execute(Buffer.from(text), CONTEXT);
    return { status: answer.status, text: answer.body.toString(), json: JSON.parse(answer.body.toString()) };
  };
  const ask = async (graphql: string, variables?: object, operationName?: string) =>
    (await post({ query: graphql, variables, operationName })).json;
  return { query, schema, post, ask };
}

describe("the body", () => {
  const refusals: [string, number, string | RegExp][] = [
    ["", 422, "body in body is required"],
    ["null", 422, "body in body is required"],
    ["{", 400, /^parsing body body from "" failed, because /],
    ["[]", 400, /^parsing body body from "" failed, because it must be a JSON object/],
    ['{"query":5}', 400, /'query' must be a string/],
    ["{}", 422, "query cannot be empty"],
    ['{"query":""}', 422, "query cannot be empty"],
    ['{"query":"{Get{Book{title}}}","variables":[1]}', 422, "'variables' must be a JSON object"],
  ];
  it.each(refusals)("%s is refused with %i", async (body, status, message) => {
    const answer = await library().post(body);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.json)).toEqual(["error"]);
    expect(answer.json.error[0].message).toMatch(message);
  });

  it("says that there is no schema", async () => {
    const { post } = library({ schema: new LibraryView([]) });
    const answer = await post({ query: "{ Get { Book { title } } }" });
    expect(answer.status).toBe(422);
    expect(answer.json.error[0].message).toBe(
      "no graphql provider present, this is most likely because no schema is present. Import a schema first!",
    );
  });

  it("takes bytes that are no Buffer", async () => {
    const handler = createGraphQlHandler({
      schema: new LibraryView(LIBRARY_CLASSES),
      query: new LibraryQuery(),
      wire: SPEC_PROFILE,
    });
    const padded = new TextEncoder().encode('xx{"query":"{Get{Shelf_2{_additional{id}}}}"}');
    const answer = await handler.execute(padded.subarray(2), CONTEXT);
    expect(answer.body.toString()).toBe(
      '{"data":{"Get":{"Shelf_2":[{"_additional":{"id":"33333333-3333-3333-3333-333333333333"}}]}},"errors":null}',
    );
  });
});

describe("the wire profile", () => {
  it("decides about `errors` when there are none", async () => {
    const text = "{ Get { Author(limit: 1) { name } } }";
    const spec = await library().post({ query: text });
    expect(spec.text).toBe('{"data":{"Get":{"Author":[{"name":"Leo"}]}},"errors":null}');
    const weaviate = await library({ wire: WEAVIATE_PROFILE }).post({ query: text });
    expect(weaviate.text).toBe('{"data":{"Get":{"Author":[{"name":"Leo"}]}}}');
    const plain = await library({ wire: WEAVIATE_PROFILE, prepareQueries: false }).post({ query: text });
    expect(plain.text).toBe(weaviate.text);
  });

  it("decides who words a syntax error", async () => {
    const spec = await library().ask("testQuery");
    expect(spec).toEqual({
      errors: [
        { locations: [{ column: 1, line: 1 }], message: 'Syntax Error: Unexpected Name "testQuery".', path: null },
      ],
    });
    const { ask } = library({ wire: WEAVIATE_PROFILE });
    expect((await ask("testQuery")).errors[0].message).toBe(
      'Syntax Error GraphQL request (1:1) Unexpected Name "testQuery"\n\n1: testQuery\n   ^\n',
    );
    expect((await ask("{\n  Get {\n    Book(limit: }\n  }\n}")).errors[0].message).toBe(
      "Syntax Error GraphQL request (3:17) Unexpected }\n\n2:   Get {\n3:     Book(limit: }\n                   ^\n4:   }\n",
    );
  });
});

describe("Get", () => {
  it("answers properties of all types", async () => {
    const { ask } = library();
    const { data, errors } = await ask(`{ Get { Book(limit: 2) {
      title isbn pages price inPrint published cover tags ratings years flags
      place { latitude longitude } phone { input national valid countryCode internationalFormatted }
    } } }`);
    expect(errors).toBeNull();
    expect(data.Get.Book[0]).toEqual({
      title: 'War & "Peace"\n\\ \u2028 – ünï 🐟',
      isbn: "",
      pages: 3_000_000_000,
      price: 12.5,
      inPrint: true,
      published: "2020-01-01T00:00:00Z",
      cover: "aGk=",
      tags: ["a", 'b"]}'],
      ratings: [1, 2.5, -3e21],
      years: [],
      flags: [true, false],
      place: { latitude: 51.225555, longitude: -1e-7 },
      phone: {
        input: "+311234567",
        national: 1234567,
        valid: false,
        countryCode: 31,
        internationalFormatted: "+31 1234567",
      },
    });
    expect(data.Get.Book[1]).toMatchObject({
      isbn: null,
      pages: null,
      place: { latitude: 1 },
      phone: null,
      tags: null,
    });
  });

  it("hands the arguments to the query, as literals and as variables", async () => {
    const { ask, query } = library();
    const id = "01010101-0101-0101-0101-010101010101";
    await ask(`{ Get { Book(limit: 3, offset: 1, nearVector: {vector: [0.1, 2, -3e0], certainty: 0.5}) { title } } }`);
    await ask(
      "query($v: [Float]!, $n: Int, $c: Float) { Get { Book(limit: $n, offset: 1, nearVector: {vector: $v, certainty: $c}) { title } } }",
      { v: [0.1, 2, -3], n: 3, c: 0.5 },
    );
    await ask(
      `{ Get { Book(nearObject: {id: "${id}", certainty: 1}) { _additional { vector classification { id } } } } }`,
    );
    const near = {
      className: "Book",
      limit: 3,
      offset: 1,
      nearVector: { vector: Float32Array.of(0.1, 2, -3), certainty: 0.5 },
      nearObject: undefined,
      fields: { properties: true, vector: false, extras: false },
    };
    expect(query.asked).toEqual([
      near,
      near,
      {
        className: "Book",
        limit: undefined,
        offset: undefined,
        nearVector: undefined,
        nearObject: { id, beacon: undefined, certainty: 1 },
        fields: { properties: false, vector: true, extras: true },
      },
    ]);
  });

  it("answers `_additional`, null when none of it exists", async () => {
    const { ask } = library();
    const all = "{ id certainty vector classification { id basedOn classifiedFields completed } }";
    const near = await ask(`{ Get { Book(nearVector: {vector: [0.5, 1]}) { _additional ${all} } } }`);
    expect(near.data.Get.Book[0]._additional).toEqual({
      id: "01010101-0101-0101-0101-010101010101",
      certainty: 0.8333333,
      vector: [0.1, -0.25, 1e-9, 0, 3.4e38],
      classification: { id: "c1", basedOn: ["title"], classifiedFields: [], completed: "2021-11-30T10:00:00.000Z" },
    });
    expect(near.data.Get.Book[1]._additional).toMatchObject({ vector: [], classification: null });
    expect(near.data.Get.Book[3]._additional.certainty).toBeNull();
    const list = await ask("{ Get { Book(limit: 1) { title _additional { certainty } } } }");
    expect(list.data.Get.Book[0]._additional).toBeNull();
    const nothing = await ask("{ Get { Book(offset: 1, limit: 1) { _additional { classification { id } } } } }");
    expect(nothing.data.Get.Book[0]._additional).toBeNull();
  });

  it("resolves references of the classes that have a fragment", async () => {
    const { ask } = library();
    const selection = "... on Author { name _additional { id certainty vector } }";
    const { data, errors } = await ask(`{ Get { Book { writtenBy { ${selection} } } } }`);
    expect(errors).toBeNull();
    expect(data.Get.Book.map((book: { writtenBy: unknown }) => book.writtenBy)).toEqual([
      [
        { name: "Jörg", _additional: { id: LIBRARY_OBJECTS.Author?.[1]?.id, certainty: null, vector: null } },
        { name: "Leo", _additional: { id: LIBRARY_OBJECTS.Author?.[0]?.id, certainty: null, vector: null } },
      ],
      null,
      null,
      null,
      null,
    ]);
    const beacon = await ask("{ Get { Book(limit: 1) { writtenBy { ... on Beacon { beacon } } } } }");
    expect(beacon.errors[0]).toMatchObject({
      message: "retrieving cross-refs by beacon is not supported yet - coming soon!",
      path: ["Get", "Book", "0", "writtenBy"],
    });
  });

  it("understands aliases, fragments on a class, directives and __typename", async () => {
    const { ask } = library();
    const { data } = await ask(
      `query($yes: Boolean!) { __typename Get { a: Author(limit: 1) { ...f ... on Author { born } ... @skip(if: $yes) { x: born } }
       b: Author(offset: 2, limit: 1) { ...f n: name @include(if: $yes) } } } fragment f on Author { name __typename }`,
      { yes: true },
    );
    expect(data).toEqual({
      __typename: "WeaviateObj",
      Get: {
        a: [{ name: "Leo", __typename: "Author", born: 1800 }],
        b: [{ name: 'a "quoted" name', __typename: "Author", n: 'a "quoted" name' }],
      },
    });
  });

  it("gives null and an error for a class that fails, and the others their data", async () => {
    const { post } = library();
    const answer = await post({ query: "{\n  Get { Author(limit: 1) { name }\n    x: Book(limit: -7) { title } } }" });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      data: { Get: { Author: [{ name: "Leo" }], x: null } },
      errors: [
        { locations: [{ column: 5, line: 3 }], message: 'limit must be 0 or more, got "-7"\n(é)', path: ["Get", "x"] },
      ],
    });
    expect(answer.text.indexOf('"locations"')).toBeLessThan(answer.text.indexOf('"message"'));
  });

  it("keeps the text of its own faults to itself, and reports them", async () => {
    const faults: unknown[] = [];
    const broken = new TypeError("x is not a function");
    const query = {
      get: () => Promise.reject(broken),
      objectById: () => Promise.reject(broken),
      list: () => Promise.reject(broken),
    };
    for (const prepareQueries of [true, false]) {
      const { ask } = library({ query, prepareQueries, onFault: (thrown) => faults.push(thrown) });
      const answer = await ask("{ Get { Book { title } } }");
      expect(answer.data).toEqual({ Get: { Book: null } });
      expect(answer.errors).toEqual([
        { locations: [{ column: 9, line: 1 }], message: "internal server error", path: ["Get", "Book"] },
      ]);
    }
    expect(faults).toEqual([broken, broken]);
  });

  it("refuses vectors that float32 cannot hold", async () => {
    const { ask } = library();
    const large = await ask("{ Get { Book(nearVector: {vector: [1, 1e39]}) { title } } }");
    expect(large.data).toEqual({ Get: { Book: null } });
    expect(large.errors[0].message).toContain("nearVector.vector[1] is beyond the range of float32: 1e+39");
    const infinite = await ask("{ Get { Book(nearVector: {vector: [1, 1e999]}) { title } } }");
    expect(infinite.data).toBeUndefined();
    expect(infinite.errors[0].message).toContain('In element #1: Expected type "Float", found 1e999.');
    const variable = await ask("query($v: [Float]!) { Get { Book(nearVector: {vector: $v}) { title } } }", {
      v: [1, "x"],
    });
    expect(variable.errors[0].message).toMatch(/Variable "\$v" got invalid value "x" at "v\[1\]"/);
    const missing = await ask("{ Get { Book(nearVector: {vector: [1, null]}) { title } } }");
    expect(missing.errors[0].message).toContain("nearVector.vector[1] must be a number, got null");
  });
});

describe("error texts of the reference", () => {
  const cases: [string, string][] = [
    ["{ Get { Foo { title } } }", 'Cannot query field "Foo" on type "GetObjectsObj". Did you mean "Book"?'],
    ["{ Get { Zeppelin { title } } }", 'Cannot query field "Zeppelin" on type "GetObjectsObj".'],
    ["{ Get { Bok { title } } }", 'Cannot query field "Bok" on type "GetObjectsObj". Did you mean "Book"?'],
    ["{ Get { Book { titel } } }", 'Cannot query field "titel" on type "Book". Did you mean "title"?'],
    ["{ Get { Book { _additional { distance } } } }", 'Cannot query field "distance" on type "BookAdditional".'],
    [
      "{ Get { Book { writtenBy { name } } } }",
      'Cannot query field "name" on type "BookWrittenByObj". Did you mean to use an inline fragment on "Author"?',
    ],
    ["{ Get { Book { place } } }", 'Field "place" of type "BookplaceGeoCoordinatesObj" must have a sub selection.'],
    ["{ Get { Book { title { x } } } }", 'Field "title" of type "String" must not have a sub selection.'],
    [
      "{ Get { Book(nearText: {}) { title } } }",
      'Unknown argument "nearText" on field "Book" of type "GetObjectsObj". Did you mean "nearObject" or "nearVector"?',
    ],
    [
      '{ Get { Book(limit: "5") { title } } }',
      'Argument "limit" has invalid value "5".\nExpected type "Int", found "5".',
    ],
    [
      '{ Get { Book(nearVector: {vector: [1, "a"], x: 1}) { title } } }',
      'Argument "nearVector" has invalid value {vector: [1, "a"], x: 1}.\nIn field "x": Unknown field.\n' +
        'In field "vector": In element #1: Expected type "Float", found "a".',
    ],
    [
      "{ Get { Book(nearVector: {certainty: 1}) { title } } }",
      'Argument "nearVector" has invalid value {certainty: 1}.\nIn field "vector": Expected "[Float]!", found null.',
    ],
    [
      "{ Get { Book(limit: 99999999999999999999) { title } } }",
      'Argument "limit" has invalid value 99999999999999999999.\nExpected type "Int", found 99999999999999999999.',
    ],
    [
      "query a { __typename } query b { __typename }",
      "Must provide operation name if query contains multiple operations.",
    ],
    ["mutation { x }", "Schema is not configured for mutations"],
    ["subscription { x }", "Schema is not configured for subscriptions"],
    [" \n\t, # nothing", "Must provide an operation."],
  ];
  it.each(cases)("%s", async (text, message) => {
    const { ask, query } = library();
    for (let repeat = 0; repeat < 2; repeat++) {
      const answer = await ask(text);
      expect(Object.keys(answer)).toEqual(["errors"]);
      expect(Object.keys(answer.errors[0])).toEqual(["locations", "message", "path"]);
      expect(answer.errors[0].message).toBe(message);
      expect(answer.errors[0].path).toBeNull();
    }
    expect(query.asked).toEqual([]);
  });
});

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
        { name: "nearVector", type: { name: "GetObjectsBookNearVectorInpObj" } },
        { name: "nearObject", type: { name: "GetObjectsBookNearObjectInpObj" } },
      ],
    });
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
