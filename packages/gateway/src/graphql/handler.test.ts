import { WEAVIATE_PROFILE } from "@shoal/model";
import { describe, expect, it } from "vitest";
import { library } from "./testing/ask-library.js";
import { LibraryView } from "./testing/library.js";

describe("the body", () => {
  const unreadable = (reason: string) => `the request body cannot be read: ${reason}`;
  const noJson = (reason: string) => `the request body is not valid JSON: ${reason}`;
  const NAME = "expected a member's name in double quotes or '}'";
  const QUERY = 'it must be an object with a query, {"query": "{ … }"}';
  const refusals: [string, number, string][] = [
    ["", 422, "the request has no body: it must be JSON"],
    [" \n", 422, "the request has no body: it must be JSON"],
    ["null", 422, "query cannot be empty"],
    ["{", 400, noJson(`line 1, column 2: found the end of the text, ${NAME}, near '{'`)],
    [
      "[1",
      400,
      noJson("line 1, column 3: found the end of the text, expected ',' or ']' behind the element, near '[1'"),
    ],
    ["{bad", 400, noJson(`line 1, column 2: found 'b', ${NAME}, near '{bad'`)],
    ["[]", 400, unreadable(`${QUERY}, got a list`)],
    ['"x"', 400, unreadable(`${QUERY}, got the string "x"`)],
    ['{"query":5}', 400, unreadable("member 'query' must be a string, got the number 5")],
    ['{"query":"{a}","operationName":[]}', 400, unreadable("member 'operationName' must be a string, got a list")],
    [
      `{"query":"{a}","variables":${"[".repeat(200)}${"]".repeat(200)}}`,
      400,
      unreadable(
        "objects and lists stand inside of one another deeper than 200 levels, which is the most that is read",
      ),
    ],
    ["{}", 422, "query cannot be empty"],
    ['{"query":""}', 422, "query cannot be empty"],
    ['{"query":"{Get{Book{title}}}","variables":[1]}', 422, "member 'variables' must be an object, got a list"],
  ];
  it.each(refusals)("%s is refused with %i", async (body, status, message) => {
    const response = await library().post(body);
    expect(response.status).toBe(status);
    expect(Object.keys(response.json)).toEqual(["error"]);
    expect(response.json.error[0].message).toBe(message);
    expect(response.text.endsWith("}\n")).toBe(true);
  });

  it("has members in any case, and nothing behind its first value", async () => {
    const { post } = library();
    const response = await post(
      '{"QUERY":"query($N:Int){Get{Author(limit:$N){name}}}","Variables":{"N":1}} trailing {',
    );
    expect(response.text).toBe('{"data":{"Get":{"Author":[{"name":"Leo"}]}},"errors":null}\n');
    expect((await post('{"query":"{Get{Author(limit:1){name}}}"}]')).text).toBe(response.text);
  });

  it.each([
    ["9223372036854775807", 2 ** 63],
    ["-9223372036854775808", -(2 ** 63)],
    ["9007199254740993", 2 ** 53],
  ])("takes the 64-bit integer %s in variables as in the text", async (literal, offset) => {
    const { post, query } = library();
    await post(`{"query":"query($o:Int){Get{Author(offset:$o){name}}}","variables":{"o":${literal}}}`);
    await post(`{"query":"{Get{Author(offset:${literal}){name}}}"}`);
    expect(query.gets.map((asked) => asked.offset)).toEqual([offset, offset]);
  });

  it("refuses integers beyond 64 bits in variables, and takes them for floats", async () => {
    const { post, query } = library();
    const response = await post(
      '{"query":"query($o:Int){Get{Author(offset:$o){name}}}","variables":{"o":9223372036854775808}}',
    );
    expect(response.json.errors[0].message).toContain("non 64-bit integer value: 9223372036854775808");
    expect(query.asked).toEqual([]);
    await post(
      '{"query":"query($v:[Float]!){Get{Book(nearVector:{vector:$v}){isbn}}}","variables":{"v":[9223372036854775808,1,null]}}',
    );
    await post(
      '{"query":"query($v:[Float]!){Get{Book(nearVector:{vector:$v}){\\u0069sbn}}}","variables":{"v":[9223372036854775808,1]}}',
    );
    expect(query.gets.at(-1)?.nearVector?.vector).toEqual(Float32Array.of(2 ** 63, 1));
  });

  it("refuses variables with more numbers than a text may have", async () => {
    const { post, query } = library({ limits: { graphqlNumbersMax: 3 } });
    const text = "query($v:[Float]!){Get{Book(nearVector:{vector:$v}){is\\u0062n}}}";
    const response = await post(`{"query":"${text}","variables":{"v":[1,2,3,4]}}`);
    expect(response.text).toBe(
      '{"errors":[{"locations":[],"message":"the variables have more than 3 values","path":null}]}\n',
    );
    await post(`{"query":"${text}","variables":{"v":[1,2,3]}}`);
    expect(query.asked).toHaveLength(1);
  });

  it("refuses too many numbers whatever was asked before, and answers others as before", async () => {
    const { post, query } = library({ limits: { graphqlNumbersMax: 10_000 } });
    const vector = (count: number) => `{Get{Book(nearVector:{vector:[${Array(count).fill(1)}]}){title}}}`;
    const refused = "the query has more than 10000 numbers";
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
    const response = await post({ query: "{ Get { Book { title } } }" });
    expect(response.status).toBe(422);
    expect(response.json.error[0].message).toBe(
      "no graphql provider present, this is most likely because no schema is present. Import a schema first! There are no classes that could be queried: create one with POST /v1/schema, or store an object of one with AUTOSCHEMA_ENABLED",
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
