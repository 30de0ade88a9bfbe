import { FakeContainer } from "@shoal/inference/testing/fake-container";
import type { ClassDefinition, JsonObject, StoredObject } from "@shoal/model";
import { type AdditionalSearch, chooseModules, type ModuleSettings } from "@shoal/module-api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { QNA_MODULE, qnaModule } from "./qna-module.js";

const inTime = () => ({ deadline: Date.now() + 20_000 });
let said: unknown;
let container: FakeContainer;
beforeAll(async () => {
  container = await FakeContainer.start({ "/answers/": (body) => ({ ...body, ...(said as object) }) });
});
afterAll(() => container[Symbol.asyncDispose]());
const open = () => qnaModule(container.address, { nowMs: Date.now, tell: () => {} });

const definition = {
  class: "Article",
  properties: [
    ["title", "text"],
    ["body", "text"],
    ["day", "date"],
    ["tags", "text[]"],
  ].map(([name, type]) => ({ name, dataType: [type] })),
} as unknown as ClassDefinition;
const row = (properties: JsonObject) => ({
  definition,
  object: { propertiesJson: Buffer.from(JSON.stringify(properties)) } as unknown as StoredObject,
});
const asking = (value: JsonObject): AdditionalSearch => ({
  vector: undefined,
  argument: { name: "ask", value: { question: "as sent" }, texts: [], searched: value },
});

async function answers(properties: readonly JsonObject[], search: AdditionalSearch) {
  await using module = open();
  return module.additionalProperties?.[0]?.values(properties.map(row), {}, search, inTime());
}

const TEXTS = {
  title: "Über Alice",
  body: "She lives in\nNew York. ÄÄ: Paris!",
  day: "2020-01-01T00:00:00Z",
  tags: ["Paris"],
};

it("answers from the texts of the first row, in bytes, and asks what was searched for", async () => {
  container.asked.length = 0;
  said = { answer: "new york", certainty: 0.7 };
  expect(await answers([TEXTS, TEXTS], asking({ question: "Where?" }))).toEqual([
    { result: "new york", property: "body", startPosition: 13, endPosition: 21, certainty: 0.7, hasAnswer: true },
    null,
  ]);
  expect(container.asked.map(({ body }) => body)).toEqual([
    { text: `${TEXTS.body} ${TEXTS.title}`, question: "Where?" },
  ]);
  said = { answer: "Paris", certainty: 0.7 };
  const at = Buffer.from(TEXTS.body).indexOf("Paris");
  expect(await answers([TEXTS], asking({ question: "Where?", certainty: 0.7 }))).toMatchObject([
    { startPosition: at, endPosition: at + 5 },
  ]);
});

it.each<[object, JsonObject, object]>([
  [{ answer: null, certainty: null }, {}, { result: null, startPosition: 0, endPosition: 0, hasAnswer: false }],
  [{ answer: "x", certainty: 0.3 }, { certainty: 0.4 }, { hasAnswer: false }],
  [
    { answer: "not there", certainty: 0.9 },
    {},
    { result: "not there", property: "", startPosition: 0, hasAnswer: true },
  ],
])("of %j with %j shows %j", async (answer, settings, shown) => {
  said = answer;
  expect(await answers([TEXTS], asking({ question: "Where?", ...settings }))).toMatchObject([shown]);
});

it("answers from the named properties only", async () => {
  container.asked.length = 0;
  said = { answer: "Alice", certainty: 1 };
  await answers([TEXTS], asking({ question: "Who?", properties: ["title", "day", "none"] }));
  expect(container.asked[0]?.body.text).toBe(TEXTS.title);
});

it("fails without a question, without texts, and with the container", async () => {
  const list: AdditionalSearch = { vector: undefined, argument: undefined };
  await expect(answers([TEXTS], list)).rejects.toThrow(
    "there is no question: it needs the argument ask with a question",
  );
  await expect(answers([{ day: TEXTS.day }], asking({ question: "When?" }))).rejects.toThrow(
    "the first row has no text to find an answer in",
  );
  expect(await answers([], asking({ question: "When?" }))).toEqual([]);
  container.failures = ["garbage"];
  await expect(answers([TEXTS], asking({ question: "Who?" }))).rejects.toThrow(
    "its answer must be a JSON object, got '<html>oops</html>'",
  );
});

it("needs a module for texts beside it", () => {
  const text = { ...QNA_MODULE, name: "text2vec-any", lacks: () => undefined, lacksBeside: () => undefined };
  const settings = { defaultVectorizerModule: "none", qnaInferenceApi: "http://x" } as ModuleSettings;
  const choose = (own: Partial<ModuleSettings>) =>
    chooseModules([text, QNA_MODULE], { ...settings, ...own }, () => {}).map(({ name }) => name);
  expect(choose({})).toEqual(["text2vec-any", "qna-transformers"]);
  expect(choose({ qnaInferenceApi: undefined })).toEqual(["text2vec-any"]);
  expect(() => choose({ enableModules: ["qna-transformers"] })).toThrow("nearText dependency not present");
  expect(() => choose({ enableModules: ["qna-transformers"], qnaInferenceApi: undefined })).toThrow(
    "required variable QNA_INFERENCE_API is not set",
  );
  expect(chooseModules([QNA_MODULE], settings, () => {})).toEqual([]);
});
