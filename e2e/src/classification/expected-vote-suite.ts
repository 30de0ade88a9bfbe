import { expect } from "vitest";
import { distance, type KnownItem } from "./known-labels.js";

/**
 * What knn gives an item, by brute force and the rule of decisions: the largest group, then the smaller mean distance, then
 * the smaller id.
 */
export function expectedVote(
  item: KnownItem,
  teachers: readonly KnownItem[],
  k: number,
  idOf: (label: number) => string,
) {
  const neighbours = teachers
    .map((one) => ({ one, distance: distance(item.vector, one.vector), label: idOf(one.label ?? -1) }))
    .sort((a, b) => a.distance - b.distance || (a.one.id < b.one.id ? -1 : 1))
    .slice(0, k);
  const mean = (all: readonly { readonly distance: number }[]) =>
    all.reduce((sum, one) => sum + one.distance, 0) / all.length;
  const [best] = [...new Set(neighbours.map(({ label }) => label))]
    .map((label) => ({ label, group: neighbours.filter((one) => one.label === label) }))
    .sort((a, b) => b.group.length - a.group.length || mean(a.group) - mean(b.group) || (a.label < b.label ? -1 : 1));
  const { label = "", group: winners = [] } = best ?? {};
  const losers = neighbours.filter((one) => one.label !== label);
  const closest = (all: typeof neighbours) => Math.min(...all.map((one) => one.distance));
  const meta = {
    closestOverallDistance: expect.closeTo(closest(neighbours), 6),
    closestWinningDistance: expect.closeTo(closest(winners), 6),
    meanWinningDistance: expect.closeTo(mean(winners), 6),
    ...(losers.length > 0 && {
      closestLosingDistance: expect.closeTo(closest(losers), 6),
      meanLosingDistance: expect.closeTo(mean(losers), 6),
    }),
    ...{ overallCount: neighbours.length, winningCount: winners.length, losingCount: losers.length },
  };
  return { label, meta };
}
