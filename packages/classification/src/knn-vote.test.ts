import { seededRandom } from "@shoal/seeded-random";
import { expect, test } from "vitest";
import { type LabelledNeighbour, voteMeta, voteOf } from "./knn-vote.js";

const SEED = Number(process.env.SHOAL_TEST_SEED ?? 20261120);

test(`the largest group wins, then the nearer one, then the smaller id (seed ${SEED})`, () => {
  const random = seededRandom(SEED).next;
  let ties = 0;
  for (let round = 0; round < 2_000; round++) {
    // Few distances and labels, so that ties are common; eighths add up exactly.
    const neighbours = Array.from({ length: 1 + Math.floor(random() * 7) }, (): LabelledNeighbour => {
      return { distance: Math.floor(random() * 4) / 8, label: "abc"[Math.floor(random() * 3)] ?? "a" };
    });
    const of = (label: string) => neighbours.filter((one) => one.label === label).map(({ distance }) => distance);
    const total = (label: string) => of(label).reduce((sum, one) => sum + one, 0);
    const labels = [...new Set(neighbours.map(({ label }) => label))];
    const most = Math.max(...labels.map((label) => of(label).length));
    const largest = labels.filter((label) => of(label).length === most);
    const least = Math.min(...largest.map(total));
    const nearest = largest.filter((label) => total(label) === least);
    if (largest.length > 1) ties++;
    const vote = voteOf(neighbours);
    expect(vote.label).toBe(nearest.sort()[0]);
    expect(vote.winners).toEqual(of(vote.label));
    expect([...vote.winners, ...vote.losers].sort()).toEqual(neighbours.map(({ distance }) => distance).sort());
  }
  expect(ties).toBeGreaterThan(100);
});

test("five neighbours, three of them winners", () => {
  const vote = voteOf([
    { label: "b", distance: 0.1 },
    { label: "a", distance: 0.2 },
    { label: "b", distance: 0.3 },
    { label: "c", distance: 0.4 },
    { label: "b", distance: 0.5 },
  ]);
  const meta = voteMeta(vote, false);
  expect(meta).toMatchObject({
    ...{ closestOverallDistance: 0.1, closestWinningDistance: 0.1, closestLosingDistance: 0.2 },
    ...{ overallCount: 5, winningCount: 3, losingCount: 2 },
  });
  expect(meta.meanWinningDistance).toBeCloseTo(0.3);
  expect(meta.meanLosingDistance).toBeCloseTo(0.3);
});

test("without losers their members are absent, or 0 as in the reference", () => {
  const vote = voteOf([{ label: "a", distance: 0 }]);
  expect(voteMeta(vote, false)).toEqual({
    ...{ closestOverallDistance: 0, closestWinningDistance: 0, meanWinningDistance: 0 },
    ...{ overallCount: 1, winningCount: 1, losingCount: 0 },
  });
  expect(voteMeta(vote, true)).toEqual({
    ...{ overallCount: 1, winningCount: 1, closestLosingDistance: 0, meanLosingDistance: 0, losingDistance: 0 },
  });
});
