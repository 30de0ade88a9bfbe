import { expect, it } from "vitest";
import { answerParts } from "./introspection-call.js";

it.each([
  null,
  {},
  { Get: null },
  { Get: {} },
  { Get: { Book: [] } },
  { Get: { Book: [{ "ti\u2028tle": 'ä"\n', n: [1, { a: [] }] }, null, {}], a: [[], [1]] }, __typename: "Q" },
])("the parts of %j are its JSON", (data) => {
  expect([...answerParts(data)].join("")).toBe(JSON.stringify(data));
});

it("has a part for each field of a type", () => {
  const fields = Array.from({ length: 100 }, (_, i) => ({ name: `field ${i}`, args: [{ name: "limit" }] }));
  const parts = [...answerParts({ types: [{ name: "T", fields }] })];
  expect(parts.filter((part) => part.includes("field "))).toHaveLength(100);
});
