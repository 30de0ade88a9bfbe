import { SPEC_PROFILE, WEAVIATE_PROFILE } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { createGraphQlHandler } from "./handler.js";
import { CONTEXT, library } from "./testing/ask-library.js";
import { LIBRARY_CLASSES, LibraryQuery, LibraryView } from "./testing/library.js";

describe("the body", () => {
  const malformed = (reason: string) => `parsing body body from "" failed, because ${reason}`;
  const unmarshal = (kind: string, member: string) =>
    `json: cannot unmarshal ${kind} into Go struct field GraphQLQuery.${member} of type string`;
  const refusals: [string, number, string][] = [
    ["", 422, "body in body is required"],
    [" \n", 422, "body in body is required"],
    ["null", 422, "query cannot be empty"],
    ["{", 400, malformed("unexpected EOF")],
    ["[1", 400, malformed("unexpected EOF")],
    ["{bad", 400, malformed("invalid character 'b' looking for beginning of object key string")],
    ["[]", 400, malformed("json: cannot unmarshal array into Go value of type models.GraphQLQuery")],
    ['"x"', 400, malformed("json: cannot unmarshal string into Go value of type models.GraphQLQuery")],
    ['{"query":5}', 400, malformed(unmarshal("number", "query"))],
    ['{"query":"{a}","operationName":[]}', 400, malformed(unmarshal("array", "operationName"))],
    [`{"query":"{a}","variables":${"[".repeat(200)}${"]".repeat(200)}}`, 400, malformed("exceeded max depth")],
    ["{}", 422, "query cannot be empty"],
    ['{"query":""}', 422, "query cannot be empty"],
    ['{"query":"{Get{Book{title}}}","variables":[1]}', 422, "'variables' must be a JSON object"],
  ];
  it.each(refusals)("%s is refused with %i", async (body, status, message) => {
    const answer = await library().post(body);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.json)).toEqual(["error"]);
    expect(answer.json.error[0].message).toBe(message);
    expect(answer.text.endsWith("}\n")).toBe(true);
  });

  it("has members in any case, and nothing behind its first value", async () => {
    const { post } = library();
    const answer = await post('{"QUERY":"query($N:Int){Get{Author(limit:$N){name}}}","Variables":{"N":1}} trailing {');
    expect(answer.text).toBe('{"data":{"Get":{"Author":[{"name":"Leo"}]}},"errors":null}\n');
    expect((await post('{"query":"{Get{Author(limit:1){name}}}"}]')).text).toBe(answer.text);
  });

  it.each([
    ["9223372036854775807", 2 ** 63],
    ["-9223372036854775808", -(2 ** 63)],
    ["9007199254740993", 2 ** 53],
  ])("takes the 64-bit integer %s in variables as in the text", async (literal, offset) => {
    const { post, query } = library();
    await post(`{"query":"query($o:Int){Get{Author(offset:$o){name}}}","variables":{"o":${literal}}}`);
    await post(`{"query":"{Get{Author(offset:${literal}){name}}}"}`);
    expect(query.asked.map((asked) => asked.offset)).toEqual([offset, offset]);
  });

  it("refuses integers beyond 64 bits in variables, and takes them for floats", async () => {
    const { post, query } = library();
    const answer = await post(
      '{"query":"query($o:Int){Get{Author(offset:$o){name}}}","variables":{"o":9223372036854775808}}',
    );
    expect(answer.json.errors[0].message).toContain("non 64-bit integer value: 9223372036854775808");
    expect(query.asked).toEqual([]);
    await post(
      '{"query":"query($v:[Float]!){Get{Book(nearVector:{vector:$v}){isbn}}}","variables":{"v":[9223372036854775808,1,null]}}',
    );
    await post(
      '{"query":"query($v:[Float]!){Get{Book(nearVector:{vector:$v}){\\u0069sbn}}}","variables":{"v":[9223372036854775808,1]}}',
    );
    expect(query.asked.at(-1)?.nearVector?.vector).toEqual(Float32Array.of(2 ** 63, 1));
  });

  it("refuses variables with more numbers than a text may have", async () => {
    const { post, query } = library({ limits: { graphqlNumbersMax: 3 } });
    const text = "query($v:[Float]!){Get{Book(nearVector:{vector:$v}){is\\u0062n}}}";
    const answer = await post(`{"query":"${text}","variables":{"v":[1,2,3,4]}}`);
    expect(answer.text).toBe(
      '{"errors":[{"locations":[],"message":"the variables have more than 3 values (GRAPHQL_NUMBERS_MAX)","path":null}]}\n',
    );
    await post(`{"query":"${text}","variables":{"v":[1,2,3]}}`);
    expect(query.asked).toHaveLength(1);
  });

  it("refuses too many numbers whatever was asked before, and answers others as before", async () => {
    const { post, query } = library({ limits: { graphqlNumbersMax: 10_000 } });
    const vector = (count: number) => `{Get{Book(nearVector:{vector:[${Array(count).fill(1)}]}){title}}}`;
    const refused = "the query has more than 10000 numbers (GRAPHQL_NUMBERS_MAX)";
    for (const count of [10_001, 3, 3, 10_001, 9_000, 3]) {
      const asked = query.asked.length;
      const { json } = await post({ query: vector(count) });
      if (count > 10_000) expect(json.errors[0].message).toBe(refused);
      else expect(json.data.Get.Book).toEqual(expect.any(Array));
      expect(query.asked.length - asked).toBe(count > 10_000 ? 0 : 1);
    }
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
      onFault: () => {},
      schema: new LibraryView(LIBRARY_CLASSES),
      query: new LibraryQuery(),
      wire: SPEC_PROFILE,
    });
    const padded = new TextEncoder().encode('xx{"query":"{Get{Shelf_2{_additional{id}}}}"}');
    const answer = await handler.execute(padded.subarray(2), CONTEXT);
    expect(answer.body.toString()).toBe(
      '{"data":{"Get":{"Shelf_2":[{"_additional":{"id":"33333333-3333-3333-3333-333333333333"}}]}},"errors":null}\n',
    );
  });
});

describe("the wire profile", () => {
  it("decides about `errors` when there are none", async () => {
    const text = "{ Get { Author(limit: 1) { name } } }";
    const spec = await library().post({ query: text });
    expect(spec.text).toBe('{"data":{"Get":{"Author":[{"name":"Leo"}]}},"errors":null}\n');
    const weaviate = await library({ wire: WEAVIATE_PROFILE }).post({ query: text });
    expect(weaviate.text).toBe('{"data":{"Get":{"Author":[{"name":"Leo"}]}}}\n');
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
    // Quoted is what is no token: the character where a digit should be.
    for (const [found, text] of [
      [")", "1.)"],
      [",", "1.,"],
      [":", "1e:"],
    ]) {
      expect((await ask(`{Get{Book(limit:${text}`)).errors[0].message).toContain(
        `(1:19) Invalid number, expected digit but got: "${found}"\n`,
      );
    }
    expect((await ask("{Get{Book(limit)}}")).errors[0].message).toContain("(1:16) Expected :, found )\n");
  });
});
