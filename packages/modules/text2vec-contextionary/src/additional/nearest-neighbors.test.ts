import type { AdditionalRow } from "@shoal/module-api";
import { expect, it } from "vitest";
import type { NearWord } from "../contextionary.js";
import { embeddedContextionary } from "../embedded-contextionary.js";
import { StoredExtensions } from "../stored-extensions.js";
import { MemoryExtensions } from "../testing/memory-extensions.js";
import { smallVocabulary } from "../testing/small-vocabulary.js";
import { nearestNeighbors } from "./nearest-neighbors.js";

const vocabulary = smallVocabulary();

function rowsOf(...vectors: readonly (Float32Array | undefined)[]): readonly AdditionalRow[] {
  return vectors.map((vector) => ({ definition: {}, object: { vector } }) as unknown as AdditionalRow);
}

/** The values of rows, and how many vectors were compared with words; each has its first number as its neighbour. */
async function valuesOf(rows: readonly AdditionalRow[]) {
  const contextionary = embeddedContextionary(async () => vocabulary, new StoredExtensions(new MemoryExtensions()));
  let compared = 0;
  contextionary.nearestUsualWords = async (vectors) => {
    compared += vectors.length;
    return vectors.map((vector): readonly NearWord[] => {
      expect(vector).toHaveLength(vocabulary.dimensions);
      return [
        { word: "$", distance: 0 },
        { word: `near ${vector[0]}`, distance: 1 },
      ];
    });
  };
  const search = { vector: undefined, argument: undefined };
  const context = { deadline: Number.POSITIVE_INFINITY };
  return { values: await nearestNeighbors(contextionary).values(rows, {}, search, context), compared };
}

const near = (vector: Float32Array) => ({ neighbors: [{ concept: `near ${vector[0]}`, distance: 1 }] });

it("is null for vectors of another length than words have, and each other row has its own", async () => {
  const [car, road, three] = [vocabulary.vector(3), vocabulary.vector(6), Float32Array.of(1, 2, 3)];
  const { values, compared } = await valuesOf(rowsOf(three, car, three, road));
  expect(values).toEqual([null, near(car), null, near(road)]);
  expect(compared).toBe(2);
  expect(await valuesOf(rowsOf(three, three))).toEqual({ values: [null, null], compared: 0 });
});

it("fails with the row that has no vector", async () => {
  await expect(valuesOf(rowsOf(vocabulary.vector(3), undefined))).rejects.toThrow("item 1 has no vector");
});
