import { expect, it } from "vitest";
import { ApiDocument, type ApiOperation } from "./api-document.js";
import type { FuzzRequest } from "./odd-requests.js";
import { complaint } from "./verdict.js";

const item = { type: "object", properties: { id: { type: "string" } }, required: ["id"], additionalProperties: false };
const get = {
  operationId: "getItem",
  responses: {
    200: { content: { "application/json": { schema: { $ref: "#/components/schemas/Item" } } } },
    404: {},
    503: { content: { "application/json": { schema: { type: "object" } } } },
  },
};
const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
const others = names.map((name) => [`/${name}`, { get: { ...get, operationId: name } }]);
const document = new ApiDocument({
  paths: { "/item": { get }, ...Object.fromEntries(others) },
  components: { schemas: { Item: item } },
});
const operation = document.operations.find(({ name }) => name === "getItem") as ApiOperation;
const request: FuzzRequest = {
  operation: "getItem",
  method: "GET",
  target: "/item",
  headers: [],
  body: undefined,
  framing: "length",
  isOddTransport: false,
};
const odd: FuzzRequest = { ...request, isOddTransport: true };
const error = '{"error":[{"message":"gone"}]}';

const answer = (status: number, text: string) => ({
  status,
  headers: new Map([["content-type", "application/json"]]),
  body: Buffer.from(text),
});

it.each([
  [200, '{"id":"x"}'],
  [404, error],
  [404, ""],
  [503, error],
])("takes %i %s", (status, text) => expect(complaint(operation, request, answer(status, text))).toBeUndefined());

it.each([
  [200, "{}", "the answer is not as documented"],
  [200, '{"id":"x","more":1}', "the answer is not as documented"],
  [200, "no JSON", "the answer is not as documented"],
  [422, error, "the status 422 is not documented for getItem"],
  [503, "", "503 without the error shape"],
  [404, '{"error":[]}', "404 without the error shape"],
  [404, '{"error":[{"message":""}]}', "404 without the error shape"],
  [500, error, "500"],
])("complains about %i %s", (status, text, words) =>
  expect(complaint(operation, request, answer(status, text))).toContain(words),
);

it("goes by the verb that was sent where an error has no body", () => {
  const put = { operationId: "putItem", responses: { 404: { content: { "application/json": { schema: item } } } } };
  const both = new ApiDocument({
    paths: { "/item": { get, put }, ...Object.fromEntries(others) },
    components: { schemas: { Item: item } },
  });
  const asked = both.operations.find(({ name }) => name === "putItem") as ApiOperation;
  expect(complaint(asked, { ...odd, method: "GET" }, answer(404, ""))).toBeUndefined();
  expect(complaint(asked, { ...odd, method: "PUT" }, answer(404, ""))).toContain("404 without the error shape");
  expect(complaint(asked, { ...odd, method: "PATCH" }, answer(404, ""))).toContain("404 without the error shape");
});

it("wants an answer, unless the request was no whole one", () => {
  expect(complaint(operation, request, "closed")).toBe("the connection ended without an answer");
  expect(complaint(operation, odd, "closed")).toBeUndefined();
  expect(complaint(operation, odd, "silent")).toBe("no answer");
  expect(complaint(operation, odd, answer(415, error))).toBeUndefined();
  expect(complaint(operation, odd, answer(500, error))).toContain("500");
});
