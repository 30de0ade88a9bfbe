import type { Json } from "@shoal/model";
import type { AdditionalRow, Project } from "@shoal/module-api";
import { expect, it } from "vitest";
import { embeddedContextionary } from "../embedded-contextionary.js";
import { StoredExtensions } from "../stored-extensions.js";
import { MemoryExtensions } from "../testing/memory-extensions.js";
import { smallVocabulary } from "../testing/small-vocabulary.js";
import { semanticPath } from "./semantic-path.js";

const context = { deadline: Number.POSITIVE_INFINITY };
const vocabulary = smallVocabulary();

function row(vector: Float32Array): AdditionalRow {
  return { definition: {}, object: { vector } } as unknown as AdditionalRow;
}

/** A path over neighbours that are given, on a line: the row at 0, the neighbours behind it, the query at the end. */
async function pathOver(
  words: readonly string[],
  rows: readonly AdditionalRow[],
  query = vocabulary.vector(3),
  project: Project = async (vectors) => vectors.map((_, i) => [i, 0]),
): Promise<readonly Json[]> {
  const contextionary = embeddedContextionary(async () => vocabulary, new StoredExtensions(new MemoryExtensions()));
  contextionary.nearestUsualWords = async () => [words.map((word) => ({ word, distance: 1 }))];
  const property = semanticPath(contextionary, project);
  return property.values(rows, {}, { vector: query, argument: undefined }, context);
}

it("leads over all neighbours, stop words among them", async () => {
  const [found] = await pathOver(["car", "the", "road"], [row(vocabulary.vector(4))]);
  expect(found).toMatchObject({ path: [{ concept: "road" }, { concept: "the" }, { concept: "car" }] });
});

it("asks for one projection at a time, however many rows there are", async () => {
  let [under, most] = [0, 0];
  const rows = Array.from({ length: 25 }, () => row(vocabulary.vector(4)));
  const paths = await pathOver(["car", "the"], rows, undefined, async (vectors) => {
    most = Math.max(most, ++under);
    await Promise.resolve();
    under--;
    return vectors.map((_, i) => [i, 0]);
  });
  expect([paths.length, most]).toEqual([25, 1]);
});

it("is null where rows and search have another length than words", async () => {
  const rows = [row(Float32Array.of(1, 2, 3)), row(Float32Array.of(3, 2, 1))];
  expect(await pathOver(["car"], rows, Float32Array.of(1, 1, 1))).toEqual([null, null]);
});
