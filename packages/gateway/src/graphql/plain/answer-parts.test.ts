import { expect, it } from "vitest";
import { answerParts } from "./answer-parts.js";

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

it("has a part for each row at least", () => {
  const rows = Array.from({ length: 100 }, (_, i) => ({ title: `book ${i}`, vector: [1, 2] }));
  expect([...answerParts({ Get: { Book: rows } })].filter((part) => part.includes("book"))).toHaveLength(100);
});
