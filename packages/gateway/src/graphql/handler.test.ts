import { SPEC_PROFILE, WEAVIATE_PROFILE } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { createGraphQlHandler } from "./handler.js";
import { CONTEXT, library } from "./testing/ask-library.js";
import { LIBRARY_CLASSES, LibraryQuery, LibraryView } from "./testing/library.js";

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
