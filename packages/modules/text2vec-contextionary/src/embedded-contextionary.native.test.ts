import { expect, it } from "vitest";
import { embeddedContextionary } from "./embedded-contextionary.js";
import { StoredExtensions } from "./stored-extensions.js";
import { describeContextionary } from "./testing/contextionary-suite.js";
import { MemoryExtensions } from "./testing/memory-extensions.js";
import { smallVocabulary } from "./testing/small-vocabulary.js";

const CONTEXT = { deadline: Number.POSITIVE_INFINITY };

describeContextionary("embedded", async () =>
  embeddedContextionary(async () => smallVocabulary(), new StoredExtensions(new MemoryExtensions())),
);

it("loads nothing before it is asked, once for all, and again when that failed", async () => {
  let loads = 0;
  const load = async () => {
    loads++;
    if (loads === 1) throw new Error("no file");
    return smallVocabulary();
  };
  await using contextionary = embeddedContextionary(load, new StoredExtensions(new MemoryExtensions()));
  await contextionary.meta();
  expect(loads).toBe(0);
  await expect(contextionary.isWordPresent("car")).rejects.toThrow("no file");
  expect(await Promise.all([contextionary.isWordPresent("car"), contextionary.isWordPresent("x")])).toEqual([
    true,
    false,
  ]);
  expect(loads).toBe(2);
});

it("knows what others were taught as soon as the store does", async () => {
  const store = new MemoryExtensions();
  const open = () => embeddedContextionary(async () => smallVocabulary(), new StoredExtensions(store));
  await using teacher = open();
  await using pupil = open();
  await teacher.addExtension("wearable", "computer dress", 1, CONTEXT);
  expect(await pupil.vectorForWord("wearable")).toEqual(await teacher.vectorForWord("wearable"));
  expect([...store.entries.keys()]).toEqual(["text2vec-contextionary/wearable"]);
  expect([...store.entries.values()][0]).toMatchObject({
    concept: "wearable",
    occurrence: 1000,
    input: { definition: "computer dress", weight: 1 },
  });
});
