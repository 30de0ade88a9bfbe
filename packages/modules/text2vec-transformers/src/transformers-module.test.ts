import { FakeContainer } from "@shoal/inference/testing/fake-container";
import { type ClassDefinition, type JsonObject, type ObjectId, ShoalError } from "@shoal/model";
import { chooseModules, EnabledModules, type ModuleSettings } from "@shoal/module-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TRANSFORMERS_CLASS_CONFIG } from "./class-config.js";
import { ContainerModel } from "./language-model.js";
import { joinedConcepts } from "./text-vectorizer.js";
import { TRANSFORMERS_MODULE, transformersModule } from "./transformers-module.js";

const NAME = "text2vec-transformers";
const inTime = () => ({ deadline: Date.now() + 20_000 });

function classOf(
  settings: JsonObject,
  properties: readonly (readonly [string, string, JsonObject?])[],
): ClassDefinition {
  return {
    class: "BlogPost",
    vectorizer: NAME,
    moduleConfig: { [NAME]: settings },
    properties: properties.map(([name, type, own = {}]) => ({ name, dataType: [type], moduleConfig: { [NAME]: own } })),
  } as unknown as ClassDefinition;
}

describe("joinedConcepts", () => {
  it("refuses to make a vector of nothing", () => {
    expect(() => joinedConcepts([])).toThrow("there must be at least one concept");
  });

  it.each([
    [["one"], "one"],
    [["one", "two"], "one. two"],
    [["one.", "two,", "three?", "four!", "five;", "six"], "one. two, three? four! five;. six"],
    [["", "two"], " two"],
  ])("%j", (concepts, text) => {
    expect(joinedConcepts(concepts)).toBe(text);
  });
});

describe("with a container", () => {
  let container: FakeContainer;
  beforeAll(async () => {
    container = await FakeContainer.start({
      "/vectors": ({ text }) => ({ text, vector: [String(text).length, 1] }),
    });
  });
  afterAll(() => container[Symbol.asyncDispose]());
  const resources = { nowMs: Date.now, tell: () => {} };
  const open = () => transformersModule(new ContainerModel(container.address, resources), resources);

  it("sends the text of each object, in the words of the protocol", async () => {
    await using module = open();
    container.asked.length = 0;
    const objects = ["Hello World", "Bye"].map((title, i) => ({
      id: `a000000${i}-0000-0000-0000-000000000000` as ObjectId,
      properties: { title, pages: 3 },
      vectorWeights: undefined,
    }));
    const definition = classOf({ poolingStrategy: "cls" }, [
      ["title", "text"],
      ["pages", "int"],
    ]);
    const outcomes = await module.vectorizer?.vectorize(definition, objects, inTime());
    expect(outcomes).toEqual([
      { vector: new Float32Array(["blog post hello world".length, 1]) },
      { vector: new Float32Array(["blog post bye".length, 1]) },
    ]);
    const config = { pooling_strategy: "cls" };
    expect(container.asked.map(({ body }) => body)).toEqual(
      expect.arrayContaining([
        { text: "blog post hello world", dims: 0, vector: null, error: "", config },
        { text: "blog post bye", dims: 0, vector: null, error: "", config },
      ]),
    );
  });

  it("fails the objects alone whose call fails", async () => {
    await using module = open();
    container.failures = ["error"];
    const objects = Array.from({ length: 30 }, (_, i) => ({
      id: `${i}` as ObjectId,
      properties: undefined,
      vectorWeights: undefined,
    }));
    const outcomes = (await module.vectorizer?.vectorize(classOf({}, []), objects, inTime())) ?? [];
    const failures = outcomes.filter((outcome) => outcome instanceof ShoalError);
    expect(outcomes).toHaveLength(30);
    expect(failures.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^no vector could be made: .*answered with status 500: out of memory$/),
    ]);
  });

  it("makes one text of concepts, with the class's pooling or the default one", async () => {
    await using module = open();
    container.asked.length = 0;
    const vectorize = module.vectorizer?.vectorizeTexts;
    expect(await vectorize?.(["iPhone", "Case"], undefined, inTime())).toEqual(new Float32Array([12, 1]));
    await vectorize?.(["x"], classOf({ poolingStrategy: "cls" }, []), inTime());
    expect(container.asked.map(({ body }) => [body.text, body.config])).toEqual([
      ["iPhone. Case", { pooling_strategy: "masked_mean" }],
      ["x", { pooling_strategy: "cls" }],
    ]);
    expect(await module.meta(inTime())).toEqual({ model: "fake" });
  });
});

describe("the check of classes", () => {
  const off = { vectorizeClassName: false };
  it.each<[string, ClassDefinition, boolean]>([
    ["the class's name", classOf({}, []), true],
    ["a text", classOf(off, [["title", "text"]]), true],
    ["lists of texts only", classOf(off, [["tags", "text[]"]]), false],
    ["a text that is skipped", classOf(off, [["title", "text", { skip: true }]]), false],
    ["numbers only", classOf(off, [["pages", "int"]]), false],
  ])("%s", async (_, definition, isFine) => {
    const checked = TRANSFORMERS_CLASS_CONFIG.check(definition).then(
      () => "",
      (error: Error) => error.message,
    );
    expect(await checked).toMatch(isFine ? /^$/ : /^module 'text2vec-transformers': invalid combination/);
  });

  it.each([3, "", ["cls"]])("is asked about a pooling strategy that is a text, not %j", async (poolingStrategy) => {
    const resources = { nowMs: Date.now, tell: () => {} };
    await using module = transformersModule(new ContainerModel("http://127.0.0.1:1", resources), resources);
    const { classRules } = new EnabledModules([module]);
    await expect(classRules.check(classOf({ poolingStrategy }, []))).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining(
        `poolingStrategy must be a text as "masked_mean", got ${JSON.stringify(poolingStrategy)}`,
      ),
    });
  });
});

it("can be the default vectorizer where its address is set", () => {
  const settings = { defaultVectorizerModule: NAME, transformersInferenceApi: "http://x" } as ModuleSettings;
  expect(chooseModules([TRANSFORMERS_MODULE], settings, () => {})).toEqual([TRANSFORMERS_MODULE]);
});
