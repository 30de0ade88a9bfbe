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
      'Unknown argument "nearText" on field "Book" of type "GetObjectsObj". It needs a class with the vectorizer text2vec-contextionary or text2vec-transformers: name it in ENABLE_MODULES and as the vectorizer of the class.',
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
      "{ Aggregate { Foo { meta { count } } } }",
      'Cannot query field "Foo" on type "AggregateObjectsObj". Did you mean "Book"?',
    ],
    [
      "{ Aggregate { Book { titel { count } } } }",
      'Cannot query field "titel" on type "AggregateBook". Did you mean "title"?',
    ],
    ["{ Aggregate { Book { title { sum } } } }", 'Cannot query field "sum" on type "AggregateBooktitleObj".'],
    ["{ Aggregate { Book { title } } }", 'Field "title" of type "AggregateBooktitleObj" must have a sub selection.'],
    ["{ Aggregate { Book { meta { count { x } } } } }", 'Field "count" of type "Int" must not have a sub selection.'],
    ["{ Aggregate { Book } }", 'Field "Book" of type "[AggregateBook]" must have a sub selection.'],
    [
      "{ Aggregate { Book(nearVector: {vector: [1]}) { meta { count } } } }",
      'Unknown argument "nearVector" on field "Book" of type "AggregateObjectsObj".',
    ],
    [
      "{ Aggregate { Book(limit: 1.5) { meta { count } } } }",
      'Argument "limit" has invalid value 1.5.\nExpected type "Int", found 1.5.',
    ],
    [
      "{ Aggregate { Book(groupBy: [5]) { meta { count } } } }",
      'Argument "groupBy" has invalid value [5].\nIn element #0: Expected type "String", found 5.',
    ],
    ["{ Explore { certainti } }", 'Cannot query field "certainti" on type "ExploreObj". Did you mean "certainty"?'],
    [
      "{ Explore(nearText: {concepts: []}) { beacon } }",
      'Unknown argument "nearText" on field "Explore" of type "WeaviateObj". It needs a class with the vectorizer text2vec-contextionary or text2vec-transformers: name it in ENABLE_MODULES and as the vectorizer of the class.',
    ],
    [
      "{ Explore(nearVector: {certainty: 1}) { beacon } }",
      'Argument "nearVector" has invalid value {certainty: 1}.\nIn field "vector": Expected "[Float]!", found null.',
    ],
    [
      "{ Get { Book(group: {type: first, force: 1}) { title } } }",
      'Argument "group" has invalid value {type: first, force: 1}.\n' +
        'In field "type": Expected type "GetObjectsBookGroupInpObjTypeEnum", found first.',
    ],
    [
      "{ Get { Book(group: {type: merge}) { title } } }",
      'Argument "group" has invalid value {type: merge}.\nIn field "force": Expected "Float!", found null.',
    ],
    [
      `{ Get { Book(nearVector: {vector: [${Array(3_000).fill(10)}, "a"]}) { title } } }`,
      `Argument "nearVector" has invalid value ${`{vector: [${Array(3_000).fill(10).join(", ")}`.slice(0, 4_096)}….\n` +
        'In field "vector": In element #3000: Expected type "Float", found "a".',
    ],
    ["query($x: Bok) { Get { Book { title } } }", 'Unknown type "Bok". Did you mean "Book"?'],
    ["{ Get { Book { writtenBy { ... on Autor { name } } } } }", 'Unknown type "Autor". Did you mean "Author"?'],
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
      const response = await ask(text);
      expect(Object.keys(response)).toEqual(["errors"]);
      expect(Object.keys(response.errors[0])).toEqual(["locations", "message", "path"]);
      expect(response.errors[0].message).toBe(message);
      expect(response.errors[0].path).toBeNull();
    }
    expect(query.asked).toEqual([]);
  });
});
