import type { Answer } from "./requests.js";

/** Places of the last candidate of the first stages that searches may have. The same numbers stand in cpp/recall-probe.h. */
export const STAGES: readonly number[] = [16, 32, 64];

/** Stands for candidates that a result takes when none of the numbers that were tried finds it. */
export const NOT_FOUND = 0xffffffff;

/** What a walk of the graph has shown of one query. */
export interface WalkRecord {
  /** Candidates that each of the nearest documents takes, nearest first; {@link NOT_FOUND} where no number finds it. */
  readonly needed: Uint32Array;
  /** At the end of each of the {@link STAGES}: the distance of the tenth nearest, divided by that of the stage's last one. */
  readonly contrasts: Float32Array;
  /** At the same moments: the distance of the tenth nearest. */
  readonly tenths: Float32Array;
}

export interface RecallProbe {
  /** Nodes that the graph had. */
  readonly linked: number;
  /** Of up to a hundred results among all documents. */
  readonly all: WalkRecord;
  /** Of up to ten results among a quarter of the documents, chosen at random. */
  readonly quarter: WalkRecord;
  /** Distances that a walk without a filter measures with each number of candidates. */
  readonly measured: Uint32Array;
}

const BEFORE_NEEDED = 3;

/** The layout of `RecallProbe::answer` in cpp/recall-probe.cc. */
export function readProbe({ integers, floats }: Answer, candidates: number): RecallProbe {
  const [linked = 0, results = 0, filteredResults = 0] = integers;
  const quarterAt = BEFORE_NEEDED + results;
  const measuredAt = quarterAt + filteredResults;
  const stages = (from: number): Omit<WalkRecord, "needed"> => ({
    contrasts: Float32Array.from(STAGES, (_, at) => floats[from + 2 * at] ?? 1),
    tenths: Float32Array.from(STAGES, (_, at) => floats[from + 2 * at + 1] ?? 0),
  });
  // Copies: the answers of many requests share one buffer.
  return {
    linked,
    all: { needed: integers.slice(BEFORE_NEEDED, quarterAt), ...stages(0) },
    quarter: { needed: integers.slice(quarterAt, measuredAt), ...stages(2 * STAGES.length) },
    measured: integers.slice(measuredAt, measuredAt + candidates),
  };
}
