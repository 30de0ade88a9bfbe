import { describe, expect, it } from "vitest";
import { library } from "../testing/ask-library.js";
import { LIBRARY_OBJECTS, LibraryQuery } from "../testing/library.js";

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
      path: ["Get", "Book"],
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
    const response = await post({
      query: "{\n  Get { Author(limit: 1) { name }\n    x: Book(limit: -7) { title } } }",
    });
    expect(response.status).toBe(200);
    expect(response.json).toEqual({
      data: { Get: { Author: [{ name: "Leo" }], x: null } },
      errors: [
        { locations: [{ column: 5, line: 3 }], message: 'limit must be 0 or more, got "-7"\n(é)', path: ["Get", "x"] },
      ],
    });
    expect(response.text.indexOf('"locations"')).toBeLessThan(response.text.indexOf('"message"'));
  });

  it("keeps the text of its own faults to itself, and reports them", async () => {
    const faults: unknown[] = [];
    const broken = new TypeError("x is not a function");
    const query = new LibraryQuery();
    query.get = () => Promise.reject(broken);
    for (const prepareQueries of [true, false]) {
      const { ask } = library({ query, prepareQueries, onFault: (thrown) => faults.push(thrown) });
      const response = await ask("{ Get { Book { title } } }");
      expect(response.data).toEqual({ Get: { Book: null } });
      expect(response.errors).toEqual([
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
