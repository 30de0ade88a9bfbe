import { buildSchema, parse, validate } from "graphql";
import { describe, expect, it } from "vitest";
import { readGraphQlResponse } from "./graphql-response.js";
import { operationNameAt, prettifyQuery, requestText } from "./request-text.js";
import { sampleQuery } from "./sample-query.js";

describe("the request", () => {
  it("has what was written, numbers with all their digits", () => {
    const text = requestText('{ a(b: "c") }', ' {"n": 9007199254740993} ', "Named");
    expect(JSON.parse(text)).toMatchObject({ query: '{ a(b: "c") }', operationName: "Named" });
    expect(text).toContain('"variables":{"n": 9007199254740993}');
    expect(JSON.parse(requestText("{ a }", " \n", undefined))).toEqual({ query: "{ a }" });
  });

  it.each([
    ["", "", "There is no query yet."],
    ["{ a }", "{", "The variables are no JSON"],
    ["{ a }", "[1]", "must be a JSON object"],
    ["{ a }", '"x"', "must be a JSON object"],
    // What would end the member and begin another one.
    ["{ a }", '{},"query":"{ b }"', "The variables are no JSON"],
  ])("%j with variables %j: %s", (query, variables, problem) => {
    expect(() => requestText(query, variables, undefined)).toThrow(problem);
  });

  it("null is a way to have no variables", () => {
    expect(requestText("{ a }", "null", undefined)).toContain('"variables":null');
  });

  it("names the operation under the cursor when there are several", () => {
    const query = "query A { a }\nquery B { b }\nfragment F on T { c }";
    expect(operationNameAt(query, 3)).toBe("A");
    expect(operationNameAt(query, query.indexOf("b }"))).toBe("B");
    expect(operationNameAt(query, query.length)).toBe("A");
    expect(operationNameAt("query A { a }", 3)).toBeUndefined();
    expect(operationNameAt("query A {", 3)).toBeUndefined();
  });
});

describe("tidying up", () => {
  it("lays a query out and keeps its meaning", () => {
    const tidy = prettifyQuery("query{Get{Word(limit:3,nearVector:{vector:[1.0,-2e-7]}){text}}}");
    expect(tidy).toBe(
      "{\n  Get {\n    Word(limit: 3, nearVector: {vector: [1.0, -2e-7]}) {\n      text\n    }\n  }\n}",
    );
    expect(prettifyQuery(tidy)).toBe(tidy);
  });

  it("does not drop comments, and knows them from strings", () => {
    expect(() => prettifyQuery("{ a # why\n }")).toThrow("comments");
    expect(() => prettifyQuery("# why\n{ a }")).toThrow("comments");
    expect(prettifyQuery('{ a(b: "# no comment") }')).toContain("# no comment");
  });

  it("says what is wrong", () => {
    expect(() => prettifyQuery("{ a ")).toThrow("Syntax Error");
    expect(prettifyQuery("  ")).toBe("  ");
  });
});

describe("the answer", () => {
  it("is laid out, errors with path and place", () => {
    const body =
      '{"data":{"n":9007199254740993},"errors":[{"message":"m","path":["Get","Word",0],"locations":[{"line":2,"column":5}]},{}]}';
    const { text, errors } = readGraphQlResponse(body);
    expect(text).toContain('"n": 9007199254740993');
    expect(errors).toEqual([
      { message: "m", path: "Get › Word › 0", place: { line: 2, column: 5 } },
      { message: "(no message)", path: undefined, place: undefined },
    ]);
  });

  it("errors: null are none", () => {
    expect(readGraphQlResponse('{"data":{},"errors":null}').errors).toEqual([]);
  });

  it("what is no JSON is shown as it is", () => {
    expect(readGraphQlResponse("<html>")).toMatchObject({
      text: "<html>",
      errors: [{ message: "the answer is no JSON" }],
    });
  });
});

describe("the sample", () => {
  it("is valid for the class, whatever types its properties have", () => {
    const property = (name: string, ...dataType: string[]) => ({ name, dataType, description: "", isIndexed: true });
    const sample = sampleQuery({
      name: "Place",
      description: "",
      vectorizer: "none",
      shards: 1,
      json: null,
      properties: [
        property("name", "text"),
        property("location", "geoCoordinates"),
        property("phone", "phoneNumber"),
        property("image", "blob"),
        property("in", "City"),
        property("tags", "string[]"),
      ],
    });
    const schema = buildSchema(`
      type Query { Get: Get }
      type Get { Place(limit: Int): [Place] }
      type Place { name: String, location: Geo, phone: Phone, image: String, in: [City], tags: [String], _additional: More }
      type Geo { latitude: Float, longitude: Float }
      type Phone { input: String, internationalFormatted: String }
      type City { name: String }
      type More { id: String }
    `);
    expect(validate(schema, parse(sample))).toEqual([]);
    expect(sample).not.toContain("image");
    expect(sample).toContain("location { latitude longitude }");
  });
});
