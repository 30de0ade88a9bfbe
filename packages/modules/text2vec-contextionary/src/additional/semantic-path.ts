import { ShoalError } from "@shoal/model";
import type { AdditionalProperty, Project } from "@shoal/module-api";
import type { RequestContext } from "@shoal/runtime";
import type { Contextionary } from "../contextionary.js";
import { isComparable, shownWords, vectorsOf } from "./nearest-neighbors.js";

const ROWS_MAX = 25;
const NEIGHBORS = 50;
const LEARNING_RATE = 100;
const ITERATIONS = 100;

/** Words that a step looks at. */
const STEP_NEIGHBORS = 10;

/** A word, a row or what was searched for, where t-SNE has put it. */
interface Place {
  readonly concept: string;
  readonly vector: Float32Array;
  readonly point: readonly number[];
}

/**
 * The words on the way from what was searched for to each row (reference-graphql 8.4); null when that has another length than
 * words have.
 */
export function semanticPath(contextionary: Contextionary, project: Project): AdditionalProperty {
  return {
    name: "semanticPath",
    output: {
      type: {
        typeSuffix: "SemanticPath",
        fields: {
          path: {
            type: {
              typeSuffix: "SemanticPathElement",
              fields: {
                concept: { type: "String" },
                distanceToQuery: { type: "Float" },
                distanceToResult: { type: "Float" },
                distanceToNext: { type: "Float" },
                distanceToPrevious: { type: "Float" },
              },
            },
            list: true,
          },
        },
      },
    },
    offeredIn: { list: false, search: true },
    reads: { properties: false, vector: true, extras: false },
    async values(rows, _given, { vector: query }, context) {
      if (rows.length === 0 || query === undefined) return rows.map(() => null);
      if (rows.length > ROWS_MAX) {
        throw new ShoalError(
          "invalid",
          `result length ${rows.length} is larger than ${ROWS_MAX} items: semantic path calculation is only suported up ` +
            `to ${ROWS_MAX} items, set a limit to <= ${ROWS_MAX}`,
        );
      }
      // Without words near to it, there is no path: the class has vectors that somebody else has made.
      if (!isComparable(query, await contextionary.dimensions(context))) return rows.map(() => null);
      const [nearest = []] = await contextionary.nearestUsualWords([query], NEIGHBORS, context);
      const concepts = shownWords(nearest).map(({ concept }) => concept);
      const words = await wordsWithVectors(contextionary, concepts, context);
      const pathTo = async (result: Float32Array) => {
        const all = [result, ...words.map(({ vector }) => vector), query];
        const perplexity = Math.floor(all.length / 2);
        const settings = { dimensions: 2, perplexity, iterations: ITERATIONS, learningRate: LEARNING_RATE };
        const points = await project(all, settings, context);
        const places = words.map((word, i) => ({ ...word, point: points[i + 1] ?? [] }));
        return { path: described(walk(places, points.at(-1) ?? [], points[0] ?? []), query, result) };
      };
      // One after the other: a page takes one place in the line of projections, however many rows it has.
      const paths: Awaited<ReturnType<typeof pathTo>>[] = [];
      for (const result of vectorsOf(rows)) paths.push(await pathTo(result));
      return paths;
    },
  };
}

/** Stop words among them, too: neighbours are all words. Those have no vector in texts and are asked for one by one. */
async function wordsWithVectors(contextionary: Contextionary, concepts: readonly string[], context: RequestContext) {
  const inTexts = await contextionary.vectorsForWords(concepts, context);
  const vectors = await Promise.all(
    concepts.map((concept, i) => inTexts[i] ?? contextionary.vectorForWord(concept, context)),
  );
  return concepts.flatMap((concept, i) => {
    const vector = vectors[i];
    return vector === undefined ? [] : { concept, vector };
  });
}

/**
 * From `start` on, of the words near to where it is always the nearest one that is closer to the end, until there is none.
 */
function walk(places: readonly Place[], start: readonly number[], end: readonly number[]): readonly Place[] {
  const path: Place[] = [];
  let current = start;
  for (;;) {
    const left = distance(current, end);
    const near = places
      .filter((place) => !path.includes(place))
      .sort((a, b) => distance(a.point, current) - distance(b.point, current))
      .slice(0, STEP_NEIGHBORS);
    const next = near.find(({ point }) => distance(point, end) < left);
    if (next === undefined) return path;
    path.push(next);
    current = next.point;
  }
}

/** The first step has no previous one, the last no next one. */
function described(path: readonly Place[], query: Float32Array, result: Float32Array) {
  return path.map(({ concept, vector }, i) => {
    const [previous, next] = [path[i - 1], path[i + 1]];
    return {
      concept,
      distanceToQuery: cosineDistance(vector, query),
      distanceToResult: cosineDistance(vector, result),
      distanceToNext: next === undefined ? null : cosineDistance(vector, next.vector),
      distanceToPrevious: previous === undefined ? null : cosineDistance(vector, previous.vector),
    };
  });
}

function distance(a: readonly number[], b: readonly number[]): number {
  return Math.hypot(...a.map((number, at) => number - (b[at] ?? 0)));
}

/** Between 0 and 2; null for a vector without direction. */
function cosineDistance(a: Float32Array, b: Float32Array): number | null {
  let [dot, lengthA, lengthB] = [0, 0, 0];
  for (const [at, number] of a.entries()) {
    const other = b[at] ?? 0;
    dot += number * other;
    lengthA += number * number;
    lengthB += other * other;
  }
  const value = Math.fround(1 - dot / Math.sqrt(lengthA * lengthB));
  return Number.isFinite(value) ? value : null;
}
