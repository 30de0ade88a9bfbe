import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { exactNeighbours } from "./exact-neighbours.js";

function sortedByCosine(rows: Float32Array, query: Float32Array, dimensions: number): number[] {
  const cosine = (row: number) => {
    let dot = 0;
    let squares = 0;
    let querySquares = 0;
    for (let at = 0; at < dimensions; at++) {
      const value = rows[row * dimensions + at] ?? Number.NaN;
      const other = query[at] ?? Number.NaN;
      dot += value * other;
      squares += value * value;
      querySquares += other * other;
    }
    return squares === 0 ? 0 : dot / Math.sqrt(squares * querySquares);
  };
  const cosines = Array.from({ length: rows.length / dimensions }, (_, row) => cosine(row));
  return cosines.map((_, row) => row).sort((a, b) => (cosines[b] ?? 0) - (cosines[a] ?? 0) || a - b);
}

describe("exactNeighbours", () => {
  const seed = 11;

  it(`agrees with sorting all rows, and keeps its answer (seed ${seed})`, async () => {
    const folder = await mkdtemp(join(tmpdir(), "shoal-neighbours-"));
    const random = seededRandom(seed).next;
    try {
      for (const [count, dimensions, queryCount, k] of [
        [1, 1, 1, 1],
        [1000, 3, 7, 10],
        [513, 100, 9, 20],
        [4, 5, 2, 6],
        [257, 784, 5, 3],
      ] as const) {
        const rows = Float32Array.from({ length: count * dimensions }, () => random() - 0.5);
        rows.fill(0, 0, dimensions * Math.floor(count / 50));
        const queries = Float32Array.from({ length: queryCount * dimensions }, () => random() - 0.5);
        const question = { rows, queries, dimensions, k, rowsName: "random", cacheFolder: folder };
        const answer = await exactNeighbours(question);
        for (let query = 0; query < queryCount; query++) {
          const expected = sortedByCosine(
            rows,
            queries.slice(query * dimensions, (query + 1) * dimensions),
            dimensions,
          );
          while (expected.length < k) expected.push(0xffff_ffff);
          expect([...answer.subarray(query * k, (query + 1) * k)]).toEqual(expected.slice(0, k));
        }
        // Read from the file: the rows are not looked at again.
        const again = await exactNeighbours({ ...question, rows: new Float32Array(rows.length) });
        expect(again).toEqual(answer);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("refuses rows that are not whole", async () => {
    const question = { queries: new Float32Array(3), dimensions: 3, k: 1, rowsName: "x" };
    await expect(exactNeighbours({ ...question, rows: new Float32Array(4) })).rejects.toMatchObject({
      code: "invalid",
    });
  });
});
