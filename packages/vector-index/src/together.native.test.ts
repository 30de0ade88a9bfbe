import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { BruteForce, bitmap } from "./brute-force.js";
import { createVectorIndex } from "./index.js";
import { recall } from "./mean-recall.js";
import { seededVectors } from "./testing/seeded-vectors.js";
import type { NearestDocuments, VectorSearchOptions } from "./vector-index.js";

const SEARCH = { ef: -1, flatSearchCutoff: 1000, graphTailMax: 10_000, cleanupIntervalSeconds: 0 };
const ids = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, i) => i);

interface Asked {
  readonly query: Float32Array;
  readonly wanted: number;
  readonly options: VectorSearchOptions;
}

describe("searches that are done together", () => {
  it.each([
    { name: "all rows are alive", removed: 0 },
    { name: "a fifth of the rows are tombstones", removed: 0.2 },
  ])("find what each finds alone, where $name", async ({ removed }) => {
    const dimensions = 40;
    const rows = 6000;
    const random = seededVectors(21);
    const draw = seededRandom(22);
    await using index = createVectorIndex({ dimensions, maxConnections: 16, efConstruction: 64 }, SEARCH);
    index.put(ids(rows), random.vectors(rows, dimensions), 1);
    await index.linked();
    index.remove(ids(rows * removed), 2);
    const filters = [0.5, 0.02].map((share) => bitmap([...ids(rows)].filter(() => draw.next() < share)));
    const asked = Array.from({ length: 400 }, (): Asked => {
      const query = random.vectors(1, dimensions);
      if (draw.below(40) === 0) query.fill(0);
      const allowed = draw.below(3) === 0 ? filters[draw.below(2)] : undefined;
      const ef = draw.below(3) === 0 ? 1 + draw.below(700) : undefined;
      return { query, wanted: draw.below(60), options: { allowed, ...(ef === undefined ? {} : { ef }) } };
    });
    const ask = ({ query, wanted, options }: Asked): Promise<NearestDocuments> => index.search(query, wanted, options);
    const alone: NearestDocuments[] = [];
    for (const one of asked) alone.push(await ask(one));
    for (const together of [2, 3, 5, 16, 400]) {
      for (let from = 0; from < asked.length; from += together) {
        const found = await Promise.all(asked.slice(from, from + together).map(ask));
        for (const [at, one] of found.entries()) expect(one, `search ${from + at}`).toEqual(alone[from + at]);
      }
    }
  });

  it("find as much with two heaps, where many candidates are asked for, as with a sorted list", async () => {
    // So few that each walk finds all, whatever graph the threads have made: what is missing was lost by the list or the heaps.
    const dimensions = 8;
    const rows = 30_000;
    const random = seededVectors(23);
    await using index = createVectorIndex({ dimensions, maxConnections: 8, efConstruction: 32 }, SEARCH);
    const vectors = random.vectors(rows, dimensions);
    index.put(ids(rows), vectors, 1);
    const oracle = new BruteForce(dimensions);
    oracle.put(ids(rows), vectors);
    await index.linked();
    for (const ef of [1023, 1024, 1025, 1100]) {
      const queries = Array.from({ length: 30 }, () => random.vectors(1, dimensions));
      const found = await Promise.all(queries.map((query) => index.search(query, 10, { ef })));
      const recalls = found.map((each, at) =>
        recall(each, oracle.search(queries[at] ?? new Float32Array(dimensions), 10)),
      );
      expect(recalls.reduce((sum, each) => sum + each) / recalls.length, `ef ${ef}`).toBeGreaterThan(0.99);
    }
  });
});
