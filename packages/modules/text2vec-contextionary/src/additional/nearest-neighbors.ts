import { ShoalError } from "@shoal/model";
import type { AdditionalProperty, AdditionalRow } from "@shoal/module-api";
import type { Contextionary, NearWord } from "../contextionary.js";

const NEIGHBORS = 10;

/** Each row is compared with every word. */
const ROWS_MAX = 1_000;

/**
 * The words nearest to an object's vector (reference-graphql 8.4); null for a vector that somebody else has made, with another
 * length than words have.
 */
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
    offeredIn: { list: true, search: true, restObject: true, restList: true },
    includeNames: ["nearestNeighbors", "nearestneighbors", "nearest-neighbors", "nearest_neighbors"],
    reads: { properties: false, vector: true, extras: false },
    async values(rows, _given, _search, context) {
      if (rows.length > ROWS_MAX) {
        throw new ShoalError("invalid", `there are ${rows.length} items, at most ${ROWS_MAX} are allowed: set a limit`);
      }
      const vectors = vectorsOf(rows);
      const dimensions = await contextionary.dimensions(context);
      const comparable = vectors.filter((vector) => isComparable(vector, dimensions));
      if (comparable.length === 0) return rows.map(() => null);
      const found = await contextionary.nearestUsualWords(comparable, NEIGHBORS + SIGNS_SPARE, context);
      const neighbors = found.values();
      return vectors.map((vector) => {
        if (!isComparable(vector, dimensions)) return null;
        return { neighbors: shownWords(neighbors.next().value ?? []).slice(0, NEIGHBORS) };
      });
    },
  };
}

/** So many more are asked for, as some are left out. */
const SIGNS_SPARE = 5;

/** Without concepts that begin with a dollar sign, which are no words. */
export function shownWords(words: readonly NearWord[]): { concept: string; distance: number }[] {
  return words.filter(({ word }) => !word.startsWith("$")).map(({ word, distance }) => ({ concept: word, distance }));
}

/** Whether a vector has the length of those of words; true when nobody knows that. */
export function isComparable({ length }: Float32Array, dimensions: number | undefined): boolean {
  return dimensions === undefined || length === dimensions;
}

/** The vectors of rows, which must all have one. */
export function vectorsOf(rows: readonly AdditionalRow[]): readonly Float32Array[] {
  return rows.map(({ object: { vector } }, item) => {
    if (vector !== undefined && vector.length > 0) return vector;
    throw new ShoalError("invalid", `item ${item} has no vector`);
  });
}
