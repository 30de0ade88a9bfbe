import { expect, it } from "vitest";
import { graphqlComplaint, isGraphqlSuccess } from "./graphql-verdict.js";

const answer = (status: number, text: string) => ({
  status,
  headers: new Map<string, string>(),
  body: Buffer.from(text),
});
const error = '{"message":"no","locations":null,"path":["Get"]}';

it.each([
  [false, 200, '{"data":{"Get":{}},"errors":null}'],
  [false, 200, '{"data":{"Get":{}}}'],
  [false, 200, `{"errors":[${error}]}`],
  [true, 200, `[{"data":{"Get":null},"errors":[${error}]}]`],
  [false, 422, '{"error":[{"message":"query cannot be empty"}]}'],
])("takes %s %i %s", (isBatch, status, text) =>
  expect(graphqlComplaint(isBatch, answer(status, text))).toBeUndefined(),
);

it.each([
  [false, 500, '{"error":[{"message":"x"}]}', "500"],
  [false, 404, '{"error":[{"message":"x"}]}', "404"],
  [false, 422, "{}", "without the error shape"],
  [false, 200, "x", "no answer of GraphQL"],
  [false, 200, '{"data":null}', "neither data nor errors"],
  [false, 200, '{"data":{},"extensions":{}}', "a member extensions"],
  [false, 200, '{"errors":[]}', "no list"],
  [false, 200, '{"errors":[{"message":"","locations":null,"path":null}]}', "without a message"],
  [false, 200, '{"errors":[{"message":"x","locations":null}]}', "other members"],
  [false, 200, '{"errors":[{"message":"x","locations":1,"path":null}]}', "without its place"],
  [false, 200, '{"errors":[{"message":"f is not a function","locations":null,"path":null}]}', "tells of the inside"],
  [true, 200, '{"data":{}}', "without a list"],
  [true, 200, '[{"data":{}},null]', "no answer of GraphQL"],
])("complains about %s %i %s", (isBatch, status, text, words) =>
  expect(graphqlComplaint(isBatch, answer(status, text))).toContain(words),
);

it("complains when nothing comes", () => {
  expect(graphqlComplaint(false, "silent")).toBe("no answer");
  expect(graphqlComplaint(false, "closed")).toContain("without an answer");
});

it("knows a success", () => {
  expect(isGraphqlSuccess(Buffer.from('{"data":{"Get":{}},"errors":null}'))).toBe(true);
  expect(isGraphqlSuccess(Buffer.from(`{"data":{"Get":null},"errors":[${error}]}`))).toBe(false);
});
