import { FakeContainer } from "@shoal/inference/testing/fake-container";
import type { ClassDefinition, JsonObject, ObjectId } from "@shoal/model";
import type { SearchWorld } from "@shoal/module-api";
import { afterAll, beforeAll, expect, it } from "vitest";
import { IMAGE_CLASS_CONFIG } from "./class-config.js";
import { imageModule } from "./image-module.js";

const inTime = () => ({ deadline: Date.now() + 20_000 });
const classOf = (settings: JsonObject) =>
  ({ class: "Photo", moduleConfig: { "img2vec-neural": settings } }) as unknown as ClassDefinition;

let container: FakeContainer;
beforeAll(async () => {
  container = await FakeContainer.start({
    "/vectors": ({ id, image }) => ({ id, vector: [String(image).length, String(image).charCodeAt(0)], dim: 2 }),
  });
});
afterAll(() => container[Symbol.asyncDispose]());
const open = () => imageModule(container.address, { nowMs: () => 17, tell: () => {} });

it.each<[JsonObject, string]>([
  [{}, "imageFields not present"],
  [{ imageFields: "photo" }, "imageFields must be an array"],
  [{ imageFields: [] }, "must contain at least one image field name in imageFields"],
  [{ imageFields: [1] }, "imageField must be a string"],
  [{ imageFields: ["photo", ""] }, "imageField values cannot be empty"],
])("refuses the settings %j", async (settings, text) => {
  await expect(IMAGE_CLASS_CONFIG.check(classOf(settings))).rejects.toMatchObject({
    code: "invalid",
    message: `module 'img2vec-neural': ${text}`,
  });
});

it("makes the mean of the images of an object", async () => {
  await using module = open();
  container.asked.length = 0;
  const definition = classOf({ imageFields: ["front", "back"] });
  await IMAGE_CLASS_CONFIG.check(definition);
  const object = (id: string, properties: JsonObject) => ({ id: id as ObjectId, properties, vectorWeights: undefined });
  const objects = [object("a", { back: "bbbb", front: "aa", other: "x" }), object("b", { back: "c" }), object("c", {})];
  const outcomes = await module.vectorizer?.vectorize(definition, objects, inTime());
  expect(outcomes).toEqual([
    { vector: new Float32Array([3, 97.5]) },
    { vector: new Float32Array([1, 99]) },
    expect.objectContaining({ code: "invalid", message: expect.stringContaining("imageFields are 'front', 'back'") }),
  ]);
  expect(container.asked.map(({ body }) => body)).toEqual(
    expect.arrayContaining([
      { id: "a_0", image: "aa" },
      { id: "a_1", image: "bbbb" },
      { id: "b_0", image: "c" },
    ]),
  );
});

it("searches for an image", async () => {
  await using module = open();
  const [nearImage] = module.searchArguments ?? [];
  const world = {} as SearchWorld;
  expect(await nearImage?.vector({ image: "abc" }, world, inTime())).toEqual(new Float32Array([3, 97]));
  await expect(nearImage?.vector({ image: "" }, world, inTime())).rejects.toThrow(
    "nearImage.image is empty: give an image in base64",
  );
  container.failures = ["error"];
  await expect(nearImage?.vector({ image: "a" }, world, inTime())).rejects.toThrow(
    /^nearImage: no vector could be made: .*answered with status 500/,
  );
  expect(module.vectorizer?.vectorizeTexts).toBeUndefined();
  expect(await module.meta(inTime())).toEqual({});
});
