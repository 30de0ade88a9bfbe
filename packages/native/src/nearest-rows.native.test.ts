import { seededRandom } from "@shoal/seeded-random";
import { describe, expect, it } from "vitest";
import { nearestRows } from "./nearest-rows.js";

function randomNumbers(seed: number, count: number): Float32Array {
  const { next } = seededRandom(seed);
  return Float32Array.from({ length: count }, () => next() * 2 - 1);
}

/** All distances in float64, sorted. */
function bruteForce(matrix: Float32Array, dimensions: number, query: Float32Array, count: number) {
  const all = Array.from({ length: matrix.length / dimensions }, (_, row) => {
    let sum = 0;
    for (let at = 0; at < dimensions; at++) sum += ((matrix[row * dimensions + at] ?? 0) - (query[at] ?? 0)) ** 2;
    return { row, distance: Math.sqrt(sum) };
  });
  return all.sort((a, b) => a.distance - b.distance || a.row - b.row).slice(0, count);
}

describe("nearestRows", () => {
  it.each([
    [1, 50, 3],
    [3, 200, 10],
    [16, 300, 1],
    [33, 500, 500],
    [100, 1_000, 20],
  ])("finds what brute force finds: %i dimensions, %i rows, %i wanted", async (dimensions, rows, count) => {
    const matrix = randomNumbers(rows, rows * dimensions);
    const queries = randomNumbers(7, 3 * dimensions);
    const results = await nearestRows(matrix, dimensions, queries, count);
    expect(results).toHaveLength(3);
    for (const [i, result] of results.entries()) {
      const query = queries.subarray(i * dimensions, (i + 1) * dimensions);
      const expected = bruteForce(matrix, dimensions, query, count);
      expect([...result.rows]).toEqual(expected.map(({ row }) => row));
      for (const [at, distance] of result.distances.entries()) {
        expect(distance).toBeCloseTo(expected[at]?.distance ?? Number.NaN, 5);
      }
    }
  });

  it("orders equal distances by row, and gives all rows when there are fewer", async () => {
    const matrix = Float32Array.of(1, 1, 0, 0, 1, 1, 0, 0);
    const [result] = await nearestRows(matrix, 2, Float32Array.of(0, 0), 9);
    expect([...(result?.rows ?? [])]).toEqual([1, 3, 0, 2]);
    expect(result?.distances[0]).toBe(0);
  });

  it("answers several calls at once, none and of nothing", async () => {
    const matrix = randomNumbers(1, 4_000);
    const one = () => nearestRows(matrix, 4, matrix.slice(40, 44), 1);
    for (const [result] of await Promise.all([one(), one(), one()])) expect([...(result?.rows ?? [])]).toEqual([10]);
    expect(await nearestRows(matrix, 4, new Float32Array(0), 5)).toEqual([]);
    expect((await nearestRows(new Float32Array(0), 4, new Float32Array(4), 5))[0]?.rows).toHaveLength(0);
    await expect(nearestRows(matrix, 3, new Float32Array(3), 1)).rejects.toThrow(TypeError);
  });
});
