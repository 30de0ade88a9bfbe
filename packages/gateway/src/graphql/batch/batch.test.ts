import { SPEC_PROFILE, WEAVIATE_PROFILE } from "@shoal/model";
import { describe, expect, it, vi } from "vitest";
import { GraphQlHandler, type GraphQlHandlerDeps } from "../handler.js";
import { CONTEXT } from "../testing/ask-library.js";
import { LIBRARY_CLASSES, LibraryQuery, LibraryView } from "../testing/library.js";
import { batchItems } from "./batch-items.js";

function open(deps: Partial<GraphQlHandlerDeps> = {}) {
  const query = new LibraryQuery();
  const schema = new LibraryView(LIBRARY_CLASSES);
  const handler = new GraphQlHandler({ schema, query, wire: SPEC_PROFILE, onFault: () => {}, ...deps });
  const post = async (body: unknown) => {
    const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
    const { status, chunks } = await handler.executeBatch(bytes, CONTEXT);
    const text = Buffer.concat(chunks).toString();
    return { status, text, json: JSON.parse(text) };
  };
  const refusal = async (body: unknown): Promise<string> => {
    const thrown = await post(body).catch((error: unknown) => error);
    const { code, message } = thrown as { code: string; message: string };
    return `${code}: ${message}`;
  };
  return { handler, query, schema, post, refusal };
}

const AUTHOR = { query: "{ Get { Author(limit: 1) { name } } }" };
const NAMED = '{"data":{"Get":{"Author":[{"name":"Leo"}]}},"errors":null}';
const NO_CONDITION = 'Argument "if" of non-null type "Boolean!" must not be null.';
const NO_QUERY = "422: The request is well-formed but was unable to be followed due to semantic errors.";

describe("POST /v1/graphql/batch", () => {
  it("does not answer all requests in one iteration of the event loop", async () => {
    const seen = new Set<number>();
    let iteration = 0;
    const timer = setInterval(() => iteration++, 0);
    const query = new LibraryQuery();
    const get = query.get.bind(query);
    vi.spyOn(query, "get").mockImplementation((...args) => {
      seen.add(iteration);
      const until = performance.now() + 5;
      while (performance.now() < until);
      return get(...args);
    });
    const { post } = open({ query });
    await post(new Array(40).fill(AUTHOR));
    clearInterval(timer);
    expect(seen.size).toBeGreaterThan(4);
  });

  it("answers each request as a request of its own, in order", async () => {
    const { post, handler } = open();
    const requests = [
      AUTHOR,
      { query: "query($n: Int) { Get { Book(limit: $n) { title } } }", variables: { n: 1 } },
      { query: "{ Aggregate { Book { meta { count } } } Explore(nearVector: {vector: [1, 2]}) { className } }" },
      { query: "query a { __typename } query b { Get { Book(limit: -2) { title } } }", operationName: "b" },
      { query: "{ Get { Zeppelin { name } } }" },
      { query: "{ __schema { queryType { name } } }" },
    ];
    const { status, text } = await post(requests);
    expect(status).toBe(200);
    const single = await Promise.all(
      requests.map(async (request) => {
        const { body } = await handler.execute(Buffer.from(JSON.stringify(request)), CONTEXT);
        return body.toString().trimEnd();
      }),
    );
    expect(text).toBe(`[${single.join(",")}]\n`);
  });

  it("has the reason of an item that is refused in its slot", async () => {
    const { post } = open();
    const { json } = await post([{}, null, AUTHOR, { query: "" }, { query: "{ a }", variables: [1] }, { query: "  " }]);
    const refused = (message: string) => ({ errors: [{ locations: [], message, path: null }] });
    const none = { errors: [{ locations: null, message: NO_QUERY, path: null }] };
    expect(json).toEqual([
      none,
      none,
      JSON.parse(NAMED),
      none,
      refused("member 'variables' must be an object, got a list"),
      refused("Must provide an operation."),
    ]);
  });

  it("answers the others when something of ours breaks in one of them", async () => {
    const faults: unknown[] = [];
    const broken = new TypeError("x is not a function");
    const { post, handler } = open({ onFault: (thrown) => faults.push(thrown) });
    const execute = handler.execute.bind(handler);
    handler.execute = (body, context) =>
      Buffer.from(body).includes("Zeppelin") ? Promise.reject(broken) : execute(body, context);
    const { json } = await post([AUTHOR, { query: "{ Get { Zeppelin { name } } }" }, AUTHOR]);
    expect(json).toEqual([
      JSON.parse(NAMED),
      { errors: [{ locations: [], message: "internal server error", path: null }] },
      JSON.parse(NAMED),
    ]);
    expect(faults).toEqual([broken]);
  });

  it("answers the others when a directive of one has no condition", async () => {
    const query = "query($c: Boolean = false) { Get { Author(limit: 1) { name @skip(if: $c) } } }";
    const { json } = await open().post([AUTHOR, { query, variables: { c: null } }, AUTHOR]);
    expect([json[0], json[2]]).toEqual([JSON.parse(NAMED), JSON.parse(NAMED)]);
    expect(json[1].errors[0]).toMatchObject({ message: NO_CONDITION, path: ["Get", "Author"] });
  });

  it("words a syntax error as the wire profile has it", async () => {
    const text = (wire: typeof SPEC_PROFILE) => open({ wire }).post([{ query: "testQuery" }]);
    expect((await text(WEAVIATE_PROFILE)).json[0].errors[0].message).toBe(
      'Syntax Error GraphQL request (1:1) Unexpected Name "testQuery"\n\n1: testQuery\n   ^\n',
    );
    expect((await text(SPEC_PROFILE)).json[0].errors[0].message).toBe('Syntax Error: Unexpected Name "testQuery".');
  });

  it.each([
    ["[]", "invalid: the batch has no queries"],
    ["null", "invalid: the batch has no queries"],
    ["", "invalid: the request has no body: it must be JSON"],
    [
      "[{]",
      "malformed: the request body is not valid JSON: line 1, column 3: found ']', expected a member's name in double quotes or '}', near '[{]'",
    ],
    [
      "[",
      "malformed: the request body is not valid JSON: line 1, column 2: found the end of the text, expected a value or ']', near '['",
    ],
    ["{}", "malformed: the request body cannot be read: it must be a list of queries, got an object"],
    ["true", "malformed: the request body cannot be read: it must be a list of queries, got true"],
    [
      '["x"]',
      'malformed: the request body cannot be read: it must be an object with a query, {"query": "{ … }"}, got the string "x"',
    ],
    ['[{"query":5}]', "malformed: the request body cannot be read: member 'query' must be a string, got the number 5"],
    [
      `[${"{},".repeat(200)}{}]`,
      "tooLarge: the request body has more than 200 queries (GRAPHQL_BATCH_REQUESTS_MAX): send several batches",
    ],
    [
      `["${"x".repeat(9_000_000)}"]`,
      "tooLarge: the request body has 9000004 bytes, at most 8388608 are allowed for a batch of queries",
    ],
  ])("refuses %.40s", async (body, message) => {
    expect(await open().refusal(body)).toBe(message);
  });

  it("makes nothing of an object in the place of the list", () => {
    const parse = vi.spyOn(JSON, "parse");
    try {
      expect(() => batchItems(Buffer.from(` {"a":${"[1,".repeat(50)}1${"]".repeat(50)}}`), 10)).toThrow(
        /must be a list of queries, got an object/,
      );
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });

  it("says that there is no schema, unless the body is no batch", async () => {
    const { refusal } = open({ schema: new LibraryView([]) });
    expect(await refusal([AUTHOR])).toMatch(/^invalid: no graphql provider present/);
    expect(await refusal("[1]")).toMatch(/^malformed: /);
  });

  it("has so many requests under way, and no more", async () => {
    const query = new LibraryQuery();
    let [running, most] = [0, 0];
    const get = query.get.bind(query);
    query.get = async (...args) => {
      most = Math.max(most, ++running);
      // The others begin meanwhile, one in an iteration at least.
      for (let iteration = 0; iteration < 10; iteration++) await new Promise((resolve) => setImmediate(resolve));
      running--;
      return get(...args);
    };
    const { post } = open({ query, limits: { graphqlBatchConcurrencyMax: 3 } });
    const { json } = await post(Array.from({ length: 20 }, () => AUTHOR));
    expect(json).toEqual(Array.from({ length: 20 }, () => JSON.parse(NAMED)));
    expect(most).toBe(3);
  });

  it("lets all answers together take what one may take", async () => {
    const { post } = open({ limits: { answerBytesMax: 40_000, graphqlBatchConcurrencyMax: 1 } });
    const book = { query: `{ Get { ${Array.from({ length: 20 }, (_, i) => `b${i}: Book { title }`).join(" ")} } }` };
    const { json } = await post([book, book, book, book, book, AUTHOR]);
    const kinds = json.map((response: { data?: unknown }) => (response.data === undefined ? "refused" : "data"));
    expect(kinds[0]).toBe("data");
    expect(kinds.at(-2)).toBe("refused");
    expect(json.at(-2).errors[0].message).toContain("take more than 40000 bytes (ANSWER_BYTES_MAX)");
  });

  it("gives up when one of its requests finds no room", async () => {
    const { refusal } = open({ limits: { answersBytesMax: 20_000, graphqlBatchConcurrencyMax: 2 } });
    const book = { query: `{ Get { ${Array.from({ length: 20 }, (_, i) => `b${i}: Book { title }`).join(" ")} } }` };
    expect(await refusal([book, book, book, book])).toMatch(/^overloaded: .*ANSWERS_BYTES_MAX/);
  });
});

describe("the items of a batch", () => {
  it("are the texts between the commas", () => {
    const items = ['{"a":[{"b":"]"}]}', "null", "[1,[2]]", '"x,\\"y"', "-1.5e3", "true", "{}", "[]"];
    for (const space of ["", " ", "\n\t "]) {
      const text = `${space}[${space}${items.join(`${space},${space}`)}${space}]${space} trailing`;
      expect(batchItems(Buffer.from(text), 100).map(String)).toEqual(items);
    }
    expect(batchItems(Buffer.from("[]"), 100)).toEqual([]);
  });
});
