import {
  EFFORT_KNOTS_MAX,
  type EffortKnot,
  type RecallProbe,
  type SearchEffort,
  STAGES,
  type WalkRecord,
} from "@shoal/native";
import { eventLoop } from "@shoal/runtime";

/** Numbers of candidates that are tried, each a tenth or so above the one before. */
export function candidatesUpTo(most: number): Uint32Array {
  const numbers: number[] = [];
  for (let number = 8; number < most; number = Math.max(number + 1, Math.round(number * 1.12))) numbers.push(number);
  return Uint32Array.from([...numbers, most]);
}

export interface EffortFit {
  readonly effort: SearchEffort;
  /** Mean share of the ten nearest that searches of the sample find with it, and the standard error of that mean. */
  readonly recall: number;
  readonly error: number;
  /** Whether recall is above the target by its error. */
  readonly reached: boolean;
  /** Candidates that a search of the sample keeps on average. */
  readonly candidates: number;
}

/** How many rows a scan may look at for each distance that the longest walk measures: about eight times its cost. */
const SCANNED_FOR_DISTANCE = 16;

const BUCKETS_MAX = EFFORT_KNOTS_MAX - 2;
const BUCKET_SAMPLES_MIN = 24;
/** A contrast beyond all that were seen halfway to 1 takes at least so many candidates, or four times as many as the last one. */
const UNSEEN_CANDIDATES_MIN = 1_536;

/**
 * The cheapest effort that finds `target` of the ten nearest of the sample, one standard error above it.
 *
 * The probes are put into buckets by contrast. Each bucket has a curve of recall and of distances measured over the number of
 * candidates; the numbers are those at which one distance more brings equally much recall in every bucket (the Lagrange
 * condition), with the least recall that reaches the target. Then they are made to ascend with contrast, and all of them
 * are multiplied by what the sample takes. That is done for each stage, and the cheapest is taken. `probes` is not empty;
 * `candidates` are the numbers that they were made with. It takes 15 ms of 512 probes, and several times as much at first, in steps.
 */
export async function fitEffort(
  probes: readonly RecallProbe[],
  candidates: Uint32Array,
  target: number,
): Promise<EffortFit> {
  let best: StageFit | undefined;
  for (const stage of STAGES.keys()) {
    const fit = await StageFit.of(probes, candidates, stage, target);
    if (best === undefined || isBetter(fit, best)) best = fit;
  }
  if (best === undefined) throw new Error("there is no stage to fit");
  const fit = await best.complete();
  const rows = Math.max(...probes.map(({ linked }) => linked));
  if (fit.reached || rows > SCANNED_FOR_DISTANCE * fit.effort.distances) return fit;
  return { ...fit, effort: { ...fit.effort, exact: true }, recall: 1, error: 0, reached: true };
}

function isBetter(one: StageFit, other: StageFit): boolean {
  if (one.reached !== other.reached) return one.reached;
  return one.reached ? one.distances < other.distances : one.outcome.recall > other.outcome.recall;
}

/** Candidates for ten results at a contrast; as `SearchEffort::at` in the addon. */
export function candidatesAt(knots: readonly EffortKnot[], contrast: number): number {
  let before = knots[0];
  if (before === undefined || contrast <= before.contrast) return before?.candidates ?? 0;
  for (const knot of knots) {
    if (contrast <= knot.contrast) {
      const width = knot.contrast - before.contrast;
      const part = width > 0 ? (contrast - before.contrast) / width : 1;
      return before.candidates + part * (knot.candidates - before.candidates);
    }
    before = knot;
  }
  return before.candidates;
}

interface Outcome {
  readonly recall: number;
  readonly error: number;
}

/** The fit with one of the stages. */
class StageFit {
  readonly #probes: readonly RecallProbe[];
  readonly #candidates: Uint32Array;
  readonly #stage: number;
  readonly #place: number;
  readonly #target: number;
  readonly #contrasts: readonly number[];
  #shape: readonly EffortKnot[] = [];
  #factor = 1;
  #numbers: readonly number[] = [];
  #outcomeOfTen: Outcome = { recall: 0, error: 0 };
  #distances = 0;

  private constructor(probes: readonly RecallProbe[], candidates: Uint32Array, place: number, target: number) {
    this.#probes = probes;
    this.#candidates = candidates;
    this.#stage = STAGES[place] ?? 16;
    this.#place = place;
    this.#target = target;
    this.#contrasts = probes.map(({ all }) => all.contrasts[place] ?? 1);
  }

  static async of(
    probes: readonly RecallProbe[],
    candidates: Uint32Array,
    place: number,
    target: number,
  ): Promise<StageFit> {
    const fit = new StageFit(probes, candidates, place, target);
    fit.#shape = await fit.#knots();
    fit.#factor = await fit.#leastFactor(10, ({ all }) => all);
    fit.#numbers = fit.#kept(fit.#factor, 10, fit.#contrasts);
    fit.#outcomeOfTen = fit.#outcome(fit.#factor, 10, ({ all }) => all);
    fit.#distances = mean(probes.map(({ measured }, at) => fit.#measuredAt(measured, fit.#numbers[at] ?? 1)));
    return fit;
  }

  get outcome(): Outcome {
    return this.#outcomeOfTen;
  }

  /** That a search of the sample measures on average. */
  get distances(): number {
    return this.#distances;
  }

  get reached(): boolean {
    return this.outcome.recall - this.outcome.error >= this.#target || this.outcome.recall === 1;
  }

  async complete(): Promise<EffortFit> {
    const of = async (results: number, record: (probe: RecallProbe) => WalkRecord, errors = 1): Promise<number> =>
      (await this.#leastFactor(results, record, errors)) / this.#factor;
    const knots = this.#shape.map(({ contrast, candidates }) => ({ contrast, candidates: this.#factor * candidates }));
    const effort: SearchEffort = {
      stage: this.#stage,
      knots: this.#withUnseen(knots),
      // Of one result a query finds all or nothing.
      ofOne: await of(1, ({ all }) => all, 2),
      // Queries made from rows are a little easier than others when so many results are wanted.
      ofHundred: await of(100, ({ all }) => all, 2),
      // The rows that a filter keeps may be just those near the query: then it takes what it takes without a filter.
      ofQuarter: Math.max(1, await of(10, ({ quarter }) => quarter)),
      farthest: FARTHER * Math.max(...this.#probes.map(({ all }) => all.tenths[this.#place] ?? 0)),
      distances: this.distances,
      exact: false,
    };
    return { effort, ...this.outcome, reached: this.reached, candidates: mean(this.#numbers) };
  }

  /** Candidates that each query of the sample gets when those of the shape are multiplied by `factor`. */
  #kept(factor: number, wanted: number, contrasts: readonly number[]): number[] {
    const most = this.#candidates.at(-1) ?? 1;
    const least = Math.max(this.#stage, wanted);
    return contrasts.map((contrast) => clamp(factor * candidatesAt(this.#shape, contrast), least, most));
  }

  #outcome(factor: number, results: number, record: (probe: RecallProbe) => WalkRecord): Outcome {
    const records = this.#probes.map(record);
    const contrasts = records.map((one) => one.contrasts[this.#place] ?? 1);
    return recallOf(
      records.map(({ needed }) => needed),
      results,
      this.#kept(factor, results, contrasts),
    );
  }

  /** The candidates by contrast, from the Lagrange condition, ascending. */
  async #knots(): Promise<readonly EffortKnot[]> {
    const order = this.#contrasts.map((_, at) => at).sort((a, b) => this.#contrast(a) - this.#contrast(b));
    const count = clamp(Math.floor(order.length / BUCKET_SAMPLES_MIN), 1, BUCKETS_MAX);
    const buckets = Array.from({ length: count }, (_, at) =>
      order.slice(Math.floor((at * order.length) / count), Math.floor(((at + 1) * order.length) / count)),
    );
    const curves: Curve[] = [];
    for (const members of buckets) {
      await eventLoop.next();
      curves.push(this.#curve(members));
    }
    await eventLoop.next();
    const wanted = this.#target * curves.reduce((sum, { results }) => sum + results, 0);
    let picks: readonly number[] = [];
    // A unit of recall is worth so many distances, on a logarithmic scale.
    for (let low = 0, high = 40, round = 0; round < 40; round++) {
      const worth = 2 ** ((low + high) / 2);
      const tried = curves.map((curve) => cheapest(curve, worth));
      const found = curves.reduce((sum, curve, at) => sum + (curve.found[tried[at] ?? 0] ?? 0), 0);
      if (found >= wanted) high = (low + high) / 2;
      else low = (low + high) / 2;
      if (found >= wanted || picks.length === 0) picks = tried;
    }
    const numbers = ascending(picks.map((pick) => this.#candidates[pick] ?? 1));
    return buckets.map((members, at) => ({
      contrast: this.#contrast(members[members.length >> 1] ?? 0),
      candidates: numbers[at] ?? 1,
    }));
  }

  #contrast(probe: number): number {
    return this.#contrasts[probe] ?? 1;
  }

  /** Results found and distances measured over the numbers of candidates that are no fewer than the stage. */
  #curve(members: readonly number[]): Curve {
    const numbers = this.#candidates;
    const found = new Float64Array(numbers.length);
    const distances = new Float64Array(numbers.length);
    let results = 0;
    for (const at of members) {
      const { all, measured } = this.#probes[at] ?? {};
      for (let number = 0; number < numbers.length; number++) {
        distances[number] = (distances[number] ?? 0) + (measured?.[number] ?? 0);
      }
      const needed = all?.needed.subarray(0, 10) ?? new Uint32Array();
      results += needed.length;
      for (const least of needed) {
        for (let number = numbers.length - 1; number >= 0 && (numbers[number] ?? 0) >= least; number--) {
          found[number] = (found[number] ?? 0) + 1;
        }
      }
    }
    return {
      found,
      distances,
      results,
      first: Math.max(
        0,
        numbers.findIndex((number) => number >= this.#stage),
      ),
    };
  }

  /**
   * The least factor on a fine scale with which recall is above the target by its error; where none is, the least one that finds what
   * the largest does.
   */
  async #leastFactor(results: number, record: (probe: RecallProbe) => WalkRecord, errors = 1): Promise<number> {
    let low = -FACTOR_STEPS;
    let high = FACTOR_STEPS;
    const most = this.#outcome(FACTOR_STEP ** high, results, record);
    const wanted = Math.min(this.#target, most.recall - errors * most.error);
    while (low < high) {
      await eventLoop.next();
      const middle = Math.floor((low + high) / 2);
      const { recall, error } = this.#outcome(FACTOR_STEP ** middle, results, record);
      if (recall - errors * error >= wanted || recall === 1) high = middle;
      else low = middle + 1;
    }
    return FACTOR_STEP ** low;
  }

  #measuredAt(measured: Uint32Array, number: number): number {
    const numbers = this.#candidates;
    const above = Math.max(
      1,
      numbers.findIndex((one) => one >= number),
    );
    const [low = 1, high = 1] = [numbers[above - 1], numbers[above]];
    const part = clamp((number - low) / Math.max(1, high - low), 0, 1);
    return (measured[above - 1] ?? 0) + part * ((measured[above] ?? 0) - (measured[above - 1] ?? 0));
  }

  /** Queries that are unlike all of the sample get many candidates. */
  #withUnseen(knots: readonly EffortKnot[]): readonly EffortKnot[] {
    const last = knots.at(-1)?.candidates ?? 1;
    const seen = Math.max(...this.#contrasts);
    return [
      ...knots,
      { contrast: seen, candidates: last },
      { contrast: (seen + 1) / 2, candidates: Math.max(UNSEEN_CANDIDATES_MIN, 4 * last) },
    ];
  }
}

/** A query is unlike all of the sample when its tenth nearest is so much farther than that of any of them. */
const FARTHER = 1.05;

/** Factors from 1 / 11 to 11. */
const FACTOR_STEP = 1.02;
const FACTOR_STEPS = 121;

interface Curve {
  readonly found: Float64Array;
  readonly distances: Float64Array;
  readonly results: number;
  /** The first number that may be taken. */
  readonly first: number;
}

function cheapest({ found, distances, first }: Curve, worth: number): number {
  let best = first;
  const price = (at: number): number => (distances[at] ?? 0) - worth * (found[at] ?? 0);
  for (let at = first + 1; at < found.length; at++) if (price(at) < price(best)) best = at;
  return best;
}

/** The nearest ascending numbers on a logarithmic scale: neighbours that descend get their geometric mean. */
function ascending(numbers: readonly number[]): number[] {
  const blocks: { sum: number; count: number }[] = [];
  for (const number of numbers) {
    let block = { sum: Math.log(number), count: 1 };
    for (
      let last = blocks.at(-1);
      last !== undefined && last.sum / last.count > block.sum / block.count;
      last = blocks.at(-1)
    ) {
      block = { sum: last.sum + block.sum, count: last.count + block.count };
      blocks.pop();
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ sum, count }) => new Array<number>(count).fill(Math.exp(sum / count)));
}

/** Of the nearest `most` of each query, those found with so many candidates each. */
export function recallOf(needed: readonly Uint32Array[], most: number, candidates: readonly number[]): Outcome {
  const shares: number[] = [];
  needed.forEach((all, at) => {
    const nearest = all.subarray(0, most);
    if (nearest.length === 0) return;
    const kept = Math.ceil(candidates[at] ?? 0);
    let found = 0;
    for (const least of nearest) if (least <= kept) found++;
    shares.push(found / nearest.length);
  });
  if (shares.length === 0) return { recall: 1, error: 0 };
  const recall = mean(shares);
  const variance = shares.reduce((sum, share) => sum + (share - recall) ** 2, 0) / Math.max(1, shares.length - 1);
  return { recall, error: Math.sqrt(variance / shares.length) };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), Math.max(least, most));
}
