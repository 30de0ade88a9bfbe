import { describe, expect, it } from "vitest";
import { library } from "../testing/ask-library.js";

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
