import { expect, it } from "vitest";
import { namesOf } from "./names-of.js";
import { EmbeddedRecognizer } from "./recognizer.js";

it("finds in a thread what it finds here", async () => {
  await using recognizer = new EmbeddedRecognizer({ nowMs: Date.now });
  const texts = ["Sarah Connor works for Microsoft in Amsterdam.", "", "nobody"];
  const found = await Promise.all(texts.map((text) => recognizer.tokens(text, { deadline: Date.now() + 60_000 })));
  expect(found).toEqual(texts.map(namesOf));
  expect(found[0]).toHaveLength(4);
});
