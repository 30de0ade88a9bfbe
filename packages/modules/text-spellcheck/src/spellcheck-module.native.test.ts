import { FakeContainer } from "@shoal/inference/testing/fake-container";
import type { AdditionalRow, AdditionalSearch } from "@shoal/module-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { spellcheckModule } from "./spellcheck-module.js";
import { ContainerSpeller, EmbeddedSpeller, type Speller } from "./speller.js";

const inTime = () => ({ deadline: Date.now() + 60_000 });
let container: FakeContainer;
beforeAll(async () => {
  container = await FakeContainer.start({
    "/spellcheck/": ({ text }) => ({
      text,
      changes: String(text).toLowerCase().includes("mispelled")
        ? [{ original: "mispelled", correction: "misspelled" }]
        : [],
    }),
  });
});
afterAll(() => container[Symbol.asyncDispose]());

describe.each<[string, () => Speller]>([
  ["a container", () => new ContainerSpeller(container.address, { nowMs: Date.now, tell: () => {} })],
  ["the dictionary", () => new EmbeddedSpeller({ nowMs: Date.now })],
])("with %s", (_, speller) => {
  it("spellCheck says what was meant, the same for each row", async () => {
    await using module = spellcheckModule(speller());
    const texts = [
      { location: "nearText.concepts[0]", text: "Mispelled Words" },
      { location: "nearText.concepts[1]", text: "Fine" },
    ];
    const search: AdditionalSearch = {
      vector: undefined,
      argument: { name: "nearText", value: {}, texts, searched: {} },
    };
    const rows = [{}, {}] as unknown as readonly AdditionalRow[];
    const checks = [
      {
        originalText: "Mispelled Words",
        didYouMean: "misspelled words",
        location: "nearText.concepts[0]",
        numberOfCorrections: 1,
        changes: [{ original: "mispelled", corrected: "misspelled" }],
      },
      {
        originalText: "Fine",
        didYouMean: "Fine",
        location: "nearText.concepts[1]",
        numberOfCorrections: 0,
        changes: [],
      },
    ];
    const [spellCheck] = module.additionalProperties ?? [];
    expect(await spellCheck?.values(rows, {}, search, inTime())).toEqual([checks, checks]);
    const list = { vector: undefined, argument: undefined };
    expect(await spellCheck?.values(rows, {}, list, inTime())).toEqual([[], []]);
  });

  it("autocorrect changes the texts that need it", async () => {
    await using module = spellcheckModule(speller());
    expect(await module.textTransformer?.transform(["Mispelled Words", "Fine"], inTime())).toEqual([
      "misspelled words",
      "Fine",
    ]);
  });
});

it("passes on that a container fails", async () => {
  await using module = spellcheckModule(new ContainerSpeller(container.address, { nowMs: Date.now, tell: () => {} }));
  container.failures = ["garbage"];
  await expect(module.textTransformer?.transform(["x"], inTime())).rejects.toThrow(
    "its answer must be a JSON object, got '<html>oops</html>'",
  );
});
