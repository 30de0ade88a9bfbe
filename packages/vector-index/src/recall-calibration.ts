import type { MeasuredRecall } from "@shoal/model";
import { type NativeVectorIndex, type RecallProbe, type SearchEffort, STAGES } from "@shoal/native";
import type { Calibration } from "./calibration.js";
import { candidatesAt, candidatesUpTo, type EffortFit, fitEffort, recallOf } from "./fit-effort.js";
import { QueryReservoir } from "./query-reservoir.js";
import type { VectorSearchSettings } from "./vector-index.js";

type CalibrationSettings = Pick<VectorSearchSettings, "targetRecall" | "ef" | "onMeasured">;

/** Samples while the graph still grows, once it has grown (of rows, and of queries that were asked), and when recall is looked at again. */
const GROWING_SAMPLE = 48;
const SAMPLE = 256;
const ASKED_SAMPLE = 512;
const CHECK_SAMPLE = 48;
/** A sample ends after this time, if it has so many by then. */
const SAMPLE_MS_MAX = 8_000;
const SAMPLE_MIN = 64;
/** So many queries share a scan: with more, the results of one step become many. */
const TOGETHER = 32;
/** With fewer, as of an index of zeros, nothing is said. */
const TELLING_MIN = 16;
/** So many asked queries replace those made from rows; so many times as many replace a sample of them. */
const ASKED_MIN = 64;
const ASKED_MORE = 2;

/** The graph is measured again when it has grown by so much: at rest, and while it grows. */
const GROWN = 1.25;
const GROWING = 2;
const WATCH_MS = 250;
/** At rest: all is linked, and since the look before no more rows have come than these, or than one in so many of all. */
const RESTING_ROWS = 64;
const RESTING_PART = 500;
/** After a measurement that came to nothing, as during a rebuild, the next one waits twice as long each time, up to this. */
const RETRY_MS_MAX = 600_000;

/**
 * Recall is looked at again after so many searches, after a pause that doubles; while more of them come in a second than this, after the
 * longest pause.
 */
const CHECK_QUERIES = 64;
const BUSY_QUERIES_A_SECOND = 10;
const CHECK_MS_MIN = 10_000;
const CHECK_MS_MAX = 600_000;
/** A look and what is measured after it take no more than a hundredth of a thread. */
const CHECK_PAUSE_FACTOR = 100;

/** The longest walks of a first sample, and of a second one where those did not find enough. */
const CANDIDATES = candidatesUpTo(512);
const MORE_CANDIDATES = candidatesUpTo(2_048);

/** Nothing but all of the nearest is enough. */
const SCAN: SearchEffort = {
  ...{
    stage: 64,
    knots: [{ contrast: 0, candidates: 64 }],
    ofOne: 1,
    ofHundred: 1,
    ofQuarter: 1,
    farthest: 0,
    distances: 0,
  },
  exact: true,
};

interface Sample {
  readonly probes: readonly RecallProbe[];
  readonly queries: MeasuredRecall["queries"];
}

/** One index of the process at a time measures. */
let line: Promise<void> = Promise.resolve();

/**
 * Measures the recall of an index and sets the effort of its searches by it: when the graph has grown, and when queries are
 * others than before. Everything it costs is one thread for the time of a sample.
 */
export class RecallCalibration {
  readonly #native: NativeVectorIndex;
  readonly #reservoir: QueryReservoir;
  readonly #nowMs: () => number;
  #onMeasured: ((recall: MeasuredRecall) => void) | undefined;
  #target: number;
  /** Whether searches keep as many candidates as is measured. */
  #wanted = false;
  #latest: Calibration | undefined;
  #watch: NodeJS.Timeout | undefined;
  #underWay = false;
  #closed = false;
  /** Whether the last sample was one of a graph at rest. */
  #isComplete = false;
  #failures = 0;
  /** All rows, and the time, when they were last looked at. */
  #before = { rows: 0, atMs: 0 };
  /** So many queries were known at the last measurement with them. */
  #knownWhenMeasured = 0;
  #seed = 0;
  #nextCheck = { afterQueries: CHECK_QUERIES, atMs: 0, waitMs: CHECK_MS_MIN, markedAtMs: 0 };

  constructor(native: NativeVectorIndex, dimensions: number, target: number, nowMs = () => performance.now()) {
    this.#native = native;
    this.#target = target;
    this.#nowMs = nowMs;
    this.#reservoir = new QueryReservoir(dimensions);
  }

  /** It may change while a measurement is under way. */
  get #mayMeasure(): boolean {
    return this.#wanted && !this.#closed && this.#target < 1;
  }

  /** The last one; undefined while there was none, or none is wanted. */
  get latest(): Calibration | undefined {
    return this.#wanted ? this.#latest : undefined;
  }

  /** The same without the effort that it led to. */
  get recall(): MeasuredRecall | undefined {
    if (this.latest === undefined) return undefined;
    const { effort: _, ...recall } = this.latest;
    return recall;
  }

  /** Of the queries that it remembers. */
  get memoryBytes(): number {
    return this.#reservoir.memoryBytes;
  }

  configure({ targetRecall: target, ef, onMeasured }: CalibrationSettings): void {
    // With a number of candidates of its own no search needs a measurement.
    const wanted = ef < 0;
    this.#onMeasured = onMeasured;
    const isNew = target !== this.#target || (wanted && !this.#wanted);
    this.#target = target;
    this.#wanted = wanted;
    if (isNew && this.#latest?.target !== target) {
      this.#latest = undefined;
      this.#isComplete = false;
    }
    if (target === 1) this.#native.setEffort(SCAN);
    else this.changed();
  }

  /** From a snapshot. */
  restore(calibration: Calibration): void {
    if (calibration.target !== this.#target) return;
    this.#native.setEffort(calibration.effort);
    this.#latest = calibration;
    this.#isComplete = calibration.sample > GROWING_SAMPLE;
  }

  /** The index has other rows, or links them. */
  changed(): void {
    if (!this.#mayMeasure) return;
    const waitMs = Math.min(WATCH_MS * 2 ** this.#failures, RETRY_MS_MAX);
    this.#watch ??= setTimeout(() => {
      this.#watch = undefined;
      void this.#look();
    }, waitMs).unref();
  }

  /** A query was asked. */
  searched(query: Float32Array): void {
    // An index without a graph measures nothing.
    if (!this.#wanted || this.#latest === undefined) return;
    // Of a query without a direction nothing can be measured.
    if (!query.some((value) => value !== 0)) return;
    this.#reservoir.add(query);
    const check = this.#nextCheck;
    if (this.#reservoir.seen < check.afterQueries) return;
    check.afterQueries = this.#reservoir.seen + CHECK_QUERIES;
    const now = this.#nowMs();
    const isBusy = (now - check.markedAtMs) * BUSY_QUERIES_A_SECOND < CHECK_QUERIES * 1_000;
    check.markedAtMs = now;
    // Never looked at with so many queries that were asked: now, however many there are.
    const isPressing = this.#knowsMoreThan(this.#latest) || now >= check.atMs + CHECK_MS_MAX;
    if (now < check.atMs || (isBusy && !isPressing)) return;
    void this.#check();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#watch);
  }

  async #look(): Promise<void> {
    if (!this.#mayMeasure || this.#underWay) return;
    const counts = this.#native.counts();
    const { rows, linked, unindexed } = counts;
    const atMs = this.#nowMs();
    const watches = Math.max(1, (atMs - this.#before.atMs) / WATCH_MS);
    const isGrowing = unindexed > 0 || rows - this.#before.rows > watches * Math.max(RESTING_ROWS, rows / RESTING_PART);
    this.#before = { rows, atMs };
    if (linked > 0 && this.#isDue(linked, isGrowing)) {
      await this.#inLine(() => this.#measure(isGrowing ? GROWING_SAMPLE : this.#fullSample));
    } else if (isGrowing) this.changed();
  }

  #isDue(linked: number, isGrowing: boolean): boolean {
    const before = this.#latest?.linked ?? 0;
    if (isGrowing) return linked >= GROWING * before;
    return !this.#isComplete || linked >= GROWN * before || linked * GROWN <= before;
  }

  /** A measurement that fails leaves the effort as it is, and is tried again. */
  async #inLine(work: () => Promise<boolean>): Promise<void> {
    this.#underWay = true;
    const turn = line.then(async () => !this.#mayMeasure || (await work())).catch(() => false);
    line = turn.then(() => {});
    this.#failures = (await turn) ? 0 : this.#failures + 1;
    this.#underWay = false;
    this.changed();
  }

  /** Whether there is a new effort. */
  async #measure(sample: number): Promise<boolean> {
    const target = this.#target;
    for (const candidates of [CANDIDATES, MORE_CANDIDATES]) {
      const measured = await this.#probe(sample, candidates);
      if (measured === undefined) return false;
      // A few queries of a graph that grows say less than they seem to: the misses that they may have are halved.
      const aimed = sample > GROWING_SAMPLE ? target : (1 + target) / 2;
      const fit = await fitEffort(measured.probes, candidates, aimed);
      const isLongest = candidates === MORE_CANDIDATES;
      if (!isLongest && (!fit.reached || fit.effort.exact)) continue;
      this.#take(fit, measured, target);
      this.#isComplete = sample > GROWING_SAMPLE;
      return true;
    }
    return false;
  }

  #take(fit: EffortFit, { probes, queries }: Sample, target: number): void {
    if (!this.#mayMeasure || target !== this.#target) return;
    this.#native.setEffort(fit.effort);
    this.#knownWhenMeasured = this.#reservoir.size;
    this.#latest = {
      target,
      recall: fit.recall,
      error: fit.error,
      candidates: fit.effort.exact ? 0 : fit.candidates,
      sample: probes.length,
      queries,
      linked: Math.max(...probes.map(({ linked }) => linked)),
      measuredAtMs: Math.round(performance.timeOrigin + performance.now()),
      effort: fit.effort,
    };
    const now = this.#nowMs();
    this.#nextCheck = { ...this.#nextCheck, atMs: now, waitMs: CHECK_MS_MIN };
    if (this.recall !== undefined) this.#onMeasured?.(this.recall);
  }

  get #isAsked(): boolean {
    return this.#reservoir.size >= ASKED_MIN;
  }

  get #fullSample(): number {
    return this.#isAsked ? ASKED_SAMPLE : SAMPLE;
  }

  /** Whether there are asked queries where there were none, or many more than were measured. */
  #knowsMoreThan({ queries, sample }: Calibration): boolean {
    if (!this.#isAsked || queries === "rows") return this.#isAsked;
    return this.#reservoir.size >= ASKED_MORE * Math.max(sample, this.#knownWhenMeasured);
  }

  /** Looks whether queries of late still find enough, and measures again when they do not. */
  async #check(): Promise<void> {
    const latest = this.#latest;
    if (!this.#mayMeasure || this.#underWay || latest === undefined || latest.effort.exact) return;
    const waitMs = Math.min(2 * this.#nextCheck.waitMs, CHECK_MS_MAX);
    // Of the work alone: others may have been in line before it.
    let begunMs = this.#nowMs();
    await this.#inLine(() => {
      begunMs = this.#nowMs();
      return this.#stillFinds(latest);
    });
    const endMs = this.#nowMs();
    // Also when it has measured again: a target that cannot be reached would be tried again and again.
    const atMs = endMs + Math.max(waitMs, CHECK_PAUSE_FACTOR * (endMs - begunMs));
    this.#nextCheck = { ...this.#nextCheck, waitMs, atMs };
  }

  /** Measures again where queries find too little, or much more than was measured. Whether it came to something. */
  async #stillFinds(latest: Calibration): Promise<boolean> {
    if (this.#knowsMoreThan(latest)) return this.#measure(this.#fullSample);
    const measured = await this.#probe(CHECK_SAMPLE, candidatesThatShow(latest.effort));
    if (measured === undefined) return false;
    const { recall, error } = foundWith(latest.effort, measured.probes);
    const findsEnough = recall + 2 * error >= this.#target;
    const findsMore = recall - 2 * error > Math.max(this.#target, latest.recall);
    return findsEnough && !findsMore ? true : this.#measure(this.#fullSample);
  }

  async #probe(sample: number, candidates: Uint32Array): Promise<Sample | undefined> {
    const probes: RecallProbe[] = [];
    const end = this.#nowMs() + SAMPLE_MS_MAX;
    const isAsked = this.#isAsked;
    for (let tried = 0; tried < sample && (probes.length < SAMPLE_MIN || this.#nowMs() < end); ) {
      if (!this.#mayMeasure) return undefined;
      const count = Math.min(TOGETHER, sample - tried);
      const queries = isAsked ? this.#reservoir.range(tried, count) : { rows: count, seed: this.#seed++ };
      tried += count;
      if (queries instanceof Float32Array && queries.length === 0) break;
      probes.push(...(await this.#native.probe(candidates, queries)));
    }
    if (probes.length < TELLING_MIN) return undefined;
    return { probes, queries: isAsked ? "asked" : "rows" };
  }
}

/** Those of which the longest walk is as long as any that searches of this effort take; the last knot is for queries unlike all. */
function candidatesThatShow({ knots }: SearchEffort): Uint32Array {
  const most = Math.max(...knots.slice(0, -1).map(({ candidates }) => candidates));
  return most > (CANDIDATES.at(-1) ?? 0) ? MORE_CANDIDATES : CANDIDATES;
}

/** What queries of the sample find with an effort. */
function foundWith(
  { knots, stage, farthest }: SearchEffort,
  probes: readonly RecallProbe[],
): { recall: number; error: number } {
  const place = STAGES.indexOf(stage);
  const kept = probes.map(({ all: { contrasts, tenths } }) => {
    const isUnlikeAll = (tenths[place] ?? 0) > farthest;
    return Math.max(stage, candidatesAt(knots, isUnlikeAll ? 1 : (contrasts[place] ?? 1)));
  });
  return recallOf(
    probes.map(({ all }) => all.needed),
    10,
    kept,
  );
}
