import { ShoalError } from "@shoal/model";
import type { AdditionalProperty, AdditionalRow } from "@shoal/module-api";
import type { Contextionary, NearWord } from "../contextionary.js";

const NEIGHBORS = 10;

/** Each row is compared with every word. */
const ROWS_MAX = 1_000;

/** The words nearest to an object's vector (reference-graphql 8.4). */
export function nearestNeighbors(contextionary: Contextionary): AdditionalProperty {
  return {
    name: "nearestNeighbors",
    output: {
      type: {
        typeSuffix: "NearestNeighbors",
        fields: {
          neighbors: {
            type: {
              typeSuffix: "NearestNeighborsNeighbor",
              fields: { concept: { type: "String" }, distance: { type: "Float" } },
            },
            list: true,
          },
        },
      },
    },
    arguments: {},
    offeredIn: { list: true, search: true, restObject: true, restList: true },
    includeNames: ["nearestNeighbors", "nearestneighbors", "nearest-neighbors", "nearest_neighbors"],
    reads: { properties: false, vector: true, extras: false },
    async values(rows, _given, _search, context) {
      if (rows.length > ROWS_MAX) {
        throw new ShoalError("invalid", `there are ${rows.length} items, at most ${ROWS_MAX} are allowed: set a limit`);
      }
      const neighbors = await contextionary.nearestUsualWords(vectorsOf(rows), NEIGHBORS + SIGNS_SPARE, context);
      return neighbors.map((words) => ({ neighbors: shownWords(words).slice(0, NEIGHBORS) }));
    },
  };
}

/** So many more are asked for, as some are left out. */
const SIGNS_SPARE = 5;

/** Without concepts that begin with a dollar sign, which are no words. */
export function shownWords(words: readonly NearWord[]): { concept: string; distance: number }[] {
  return words.filter(({ word }) => !word.startsWith("$")).map(({ word, distance }) => ({ concept: word, distance }));
}

/** The vectors of rows, which must all have one. */
export function vectorsOf(rows: readonly AdditionalRow[]): readonly Float32Array[] {
  return rows.map(({ object: { vector } }, item) => {
    if (vector !== undefined && vector.length > 0) return vector;
    throw new ShoalError("invalid", `item ${item} has no vector`);
  });
}
