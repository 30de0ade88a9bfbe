/** From this contrast on a walk keeps so many candidates for ten results. */
export interface EffortKnot {
  readonly contrast: number;
  readonly candidates: number;
}

/**
 * How many candidates a search keeps as a function of what its walk shows. It begins with `stage`; the contrast of what they
 * found leads, by a line through the knots, to the number that it goes on with. See cpp/search-effort.h.
 */
export interface SearchEffort {
  readonly stage: number;
  /** 1 to {@link EFFORT_KNOTS_MAX}, by ascending contrast. */
  readonly knots: readonly EffortKnot[];
  /** What the candidates are multiplied by for one result, for a hundred, and for ten among a quarter of the documents. */
  readonly ofOne: number;
  readonly ofHundred: number;
  readonly ofQuarter: number;
  /** A query whose tenth nearest is farther than that gets the candidates of the last knot: it is unlike all of the sample. */
  readonly farthest: number;
  /** Distances that a search for ten results measures on average. */
  readonly distances: number;
  /** No number of candidates finds enough: rows are scanned. */
  readonly exact: boolean;
}

export const EFFORT_KNOTS_MAX = 12;

/** As `indexSetEffort` reads it. */
export function effortNumbers(effort: SearchEffort): Float64Array {
  const { stage, ofOne, ofHundred, ofQuarter, farthest, distances, exact, knots } = effort;
  return Float64Array.from([
    ...[stage, ofOne, ofHundred, ofQuarter, farthest, distances, exact ? 1 : 0],
    ...knots.flatMap(({ contrast, candidates }) => [contrast, candidates]),
  ]);
}

const BEFORE_KNOTS = 7;

/** What `effortNumbers` wrote; undefined for numbers that are no effort. */
export function readEffort(numbers: readonly number[]): SearchEffort | undefined {
  const [stage = 0, ofOne = 0, ofHundred = 0, ofQuarter = 0, farthest = 0, distances = 0, exact] = numbers;
  const knots: EffortKnot[] = [];
  for (let at = BEFORE_KNOTS; at + 1 < numbers.length; at += 2) {
    knots.push({ contrast: numbers[at] ?? 0, candidates: numbers[at + 1] ?? 0 });
  }
  const isWhole = numbers.length === BEFORE_KNOTS + 2 * knots.length && knots.length > 0;
  const ascends = knots.every(({ contrast }, at) => contrast >= (knots[at - 1]?.contrast ?? 0));
  if (!isWhole || !ascends || knots.length > EFFORT_KNOTS_MAX) return undefined;
  if (stage < 1 || Math.min(ofOne, ofHundred, ofQuarter) <= 0) return undefined;
  return { stage, knots, ofOne, ofHundred, ofQuarter, farthest, distances, exact: exact !== 0 };
}
