import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { at, errorOf, graphqlErrors, type HttpClient } from "../http-client.js";
import { ServerProcess } from "../server-process.js";

let server: ServerProcess;
let http: HttpClient;

beforeAll(async () => {
  server = await ServerProcess.start();
  http = server.http;
});
afterAll(() => server[Symbol.asyncDispose]());

describe("POST /v1/graphql", () => {
  it("is 422 while the schema is empty", async () => {
    const answer = await http.graphql("{ Get { Book { title } } }");
    expect([answer.status, errorOf(answer)]).toEqual([
      422,
      "no graphql provider present, this is most likely because no schema is present. Import a schema first!",
    ]);
  });

  describe("with a class", () => {
    beforeAll(async () => {
      await http.post("/v1/schema", {
        class: "Book",
        properties: [
          { name: "title", dataType: ["string"] },
          { name: "place", dataType: ["geoCoordinates"] },
        ],
      });
    });

    it.each([{ query: "" }, {}, { query: null }])("%j is 422: query cannot be empty", async (body) => {
      const answer = await http.post("/v1/graphql", body);
      expect([answer.status, errorOf(answer)]).toEqual([422, "query cannot be empty"]);
    });

    it.each([
      ["no body", "", 422],
      ["not JSON", "{", 400],
      ["a number as query", '{"query":5}', 400],
      ["variables that are no object", '{"query":"{ Get { Book { title } } }","variables":"x"}', 422],
    ])("%s is %s → %i", async (_, body, status) => {
      const answer = await http.post("/v1/graphql", body);
      expect(answer.status, answer.text).toBe(status);
      expect(typeof errorOf(answer)).toBe("string");
    });

    it.each([
      ["{ Get { Foo { x } } }", 'Cannot query field "Foo" on type "GetObjectsObj".'],
      ["{ Get { Book { x } } }", 'Cannot query field "x" on type "Book".'],
      ["{ Get { Book { _additional { x } } } }", 'Cannot query field "x" on type "BookAdditional".'],
      ["{ Get { Book(nearText: {concepts: []}) { title } } }", 'Unknown argument "nearText" on field "Book" of type'],
      ["mutation { x }", "Schema is not configured"],
      ["{ Get { Book { place } } }", "place"],
      ["{ Get { Book { title { x } } } }", "title"],
      ['{ Get { Book(limit: "5") { title } } }', "limit"],
      ["   ", ""],
    ])("%s: 200 with errors and without data", async (query, message) => {
      const answer = await http.graphql(query);
      expect(answer.status).toBe(200);
      expect(answer.json).not.toHaveProperty("data");
      const errors = graphqlErrors(answer);
      expect(errors.length).toBeGreaterThan(0);
      expect(String(errors[0])).toContain(message);
      expect(at(answer.json, "errors", 0)).toHaveProperty("locations");
      expect(at(answer.json, "errors", 0)).toHaveProperty("path");
    });

    it("a syntax error is worded as graphql-js words it", async () => {
      const answer = await http.graphql("testQuery");
      expect(graphqlErrors(answer)).toEqual(['Syntax Error: Unexpected Name "testQuery".']);
    });

    it("classes are independent: one fails, the other has data", async () => {
      await http.post("/v1/objects", { class: "Book", properties: { title: "a" }, vector: [1, 2] });
      const answer = await http.graphql(
        "{ Get { good: Book { title } bad: Book(nearVector: {vector: [1]}) { title } } }",
      );
      expect(at(answer.json, "data", "Get")).toEqual({ good: [{ title: "a" }], bad: null });
      expect(at(answer.json, "errors", 0, "path")).toEqual(["Get", "bad"]);
    });
  });
});
