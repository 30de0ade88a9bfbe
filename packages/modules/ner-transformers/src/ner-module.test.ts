import { FakeContainer } from "@shoal/inference/testing/fake-container";
import type { ClassDefinition, JsonObject, StoredObject } from "@shoal/model";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EMBEDDED_CERTAINTY, namesOf } from "./names-of.js";
import { nerModule } from "./ner-module.js";
import { ContainerRecognizer } from "./recognizer.js";

const inTime = () => ({ deadline: Date.now() + 20_000 });

describe("the embedded rules", () => {
  const words = (text: string) => namesOf(text).map(({ entity, word }) => `${entity} ${word}`);
  it.each([
    [
      "Sarah Connor works for Microsoft in Amsterdam.",
      ["I-PER Sarah", "I-PER Connor", "I-ORG Microsoft", "I-LOC Amsterdam"],
    ],
    ["Angela Merkel visited Paris on Monday.", ["I-PER Angela", "I-PER Merkel", "I-LOC Paris"]],
    ["John's dog ran away.", ["I-PER John"]],
    ["there are no names in this text", []],
    ["", []],
  ])("%s", (text, found) => {
    expect(words(text)).toEqual(found);
  });

  it("says where names are, in characters", () => {
    const text = "😀 ü Angela Merkel met 😀 people in Amsterdam. Then 😀 she flew to Paris.";
    const characters = [...text];
    const found = namesOf(text);
    expect(found.map(({ word }) => word)).toEqual(["Angela", "Merkel", "Amsterdam", "Paris"]);
    for (const { word, startPosition, endPosition, certainty } of found) {
      expect(characters.slice(startPosition, endPosition).join("")).toBe(word);
      expect(certainty).toBe(EMBEDDED_CERTAINTY);
    }
  });
});

describe("tokens", () => {
  let container: FakeContainer;
  beforeAll(async () => {
    // Every word is a name; the longer, the surer.
    container = await FakeContainer.start({
      "/ner/": ({ text }) => ({
        text,
        tokens: [...String(text).matchAll(/\w+/g)].map(({ 0: word, index }) => ({
          entity: "I-PER",
          certainty: word.length / 10,
          word,
          startPosition: index,
          endPosition: index + word.length,
        })),
      }),
    });
  });
  afterAll(() => container[Symbol.asyncDispose]());

  const definition = {
    properties: ["title", "note"].map((name) => ({ name, dataType: ["text"] })),
  } as unknown as ClassDefinition;
  async function tokens(rows: readonly JsonObject[], given: JsonObject) {
    await using module = nerModule(new ContainerRecognizer(container.address, { nowMs: Date.now, tell: () => {} }));
    const search = { vector: undefined, argument: undefined };
    const objects = rows.map((properties) => ({
      definition,
      object: { propertiesJson: Buffer.from(JSON.stringify(properties)) } as unknown as StoredObject,
    }));
    return module.additionalProperties?.[0]?.values(objects, given, search, inTime());
  }

  it("are those of the listed properties, by row, sure enough, and not too many", async () => {
    const rows = [{ title: "Ann met Robert", note: "Elisabeth" }, {}, { note: "Bob Maximilian" }];
    const word = (property: string, text: string, at: number) => ({
      property,
      entity: "I-PER",
      certainty: text.length / 10,
      word: text,
      startPosition: at,
      endPosition: at + text.length,
    });
    expect(await tokens(rows, { properties: ["note", "title"], certainty: 0.5 })).toEqual([
      [word("note", "Elisabeth", 0), word("title", "Robert", 8)],
      [],
      [word("note", "Maximilian", 4)],
    ]);
    expect(await tokens(rows, { properties: ["title"], limit: 2 })).toEqual([
      [word("title", "Ann", 0), word("title", "met", 4)],
      [],
      [],
    ]);
  });

  it("need properties, and the container", async () => {
    await expect(tokens([{ title: "x" }], {})).rejects.toThrow("no properties provided");
    container.failures = ["error"];
    await expect(tokens([{ title: "x" }], { properties: ["title"] })).rejects.toThrow(
      "it answered with status 500: out of memory",
    );
  });
});
