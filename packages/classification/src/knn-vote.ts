import type { Json } from "@shoal/model";

/** A neighbour as the vote sees it. */
export interface LabelledNeighbour {
  /** 0 (equal) to 1 (opposite). */
  readonly distance: number;
  /** The id that it refers to. */
  readonly label: string;
}

/** How a vote ended. */
export interface Vote {
  readonly label: string;
  readonly winners: readonly number[];
  readonly losers: readonly number[];
}

/** The largest group wins; of equally large ones that with the smaller mean distance, then the smaller id (decisions). */
export function voteOf(neighbours: readonly LabelledNeighbour[]): Vote {
  const groups = new Map<string, number[]>();
  for (const { label, distance } of neighbours) {
    const group = groups.get(label);
    if (group === undefined) groups.set(label, [distance]);
    else group.push(distance);
  }
  const [first = ["", []]] = [...groups].sort(
    ([labelA, a], [labelB, b]) => b.length - a.length || mean(a) - mean(b) || (labelA < labelB ? -1 : 1),
  );
  const [label, winners] = first;
  const losers = neighbours.filter((one) => one.label !== label).map(({ distance }) => distance);
  return { label, winners, losers };
}

/**
 * What is stored with the reference (specification, "properties > {cref_property_name} > classification"). With
 * `losingAlways` as the reference does it: losing members are 0 when there are no losers, other zeros are left out, and
 * two members that it has deprecated are there, too.
 */
export function voteMeta({ winners, losers }: Vote, losingAlways: boolean): Readonly<Record<string, Json>> {
  const winning = {
    closestOverallDistance: Math.min(...winners, ...losers),
    closestWinningDistance: Math.min(...winners),
    meanWinningDistance: mean(winners),
    overallCount: winners.length + losers.length,
    winningCount: winners.length,
  };
  const isLost = losers.length > 0;
  const losing = {
    closestLosingDistance: isLost ? Math.min(...losers) : 0,
    meanLosingDistance: isLost ? mean(losers) : 0,
  };
  if (!losingAlways) return { ...winning, ...(isLost ? losing : {}), losingCount: losers.length };
  const plain = { ...winning, winningDistance: winning.meanWinningDistance, losingCount: losers.length };
  const shown = Object.entries(plain).filter(([, value]) => value !== 0);
  return { ...Object.fromEntries(shown), ...losing, losingDistance: losing.meanLosingDistance };
}

/** What the reference shows where nothing was stored about losers. */
export const NO_LOSERS = { closestLosingDistance: 0, losingDistance: 0, meanLosingDistance: 0 } as const;

function mean(distances: readonly number[]): number {
  return distances.reduce((sum, distance) => sum + distance, 0) / distances.length;
}
