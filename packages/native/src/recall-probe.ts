import type { NativeResult } from "./requests.js";

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

/** So many queries are measured together at most. The same number stands in cpp/recall-probe.h. */
export const PROBES_TOGETHER = 64;

/** Queries that are made of so many rows. */
export interface ChosenRows {
  readonly rows: number;
  readonly seed: number;
}

export interface RecallProbe {
  /** Nodes that the graph had. */
  readonly linked: number;
  /** Of up to a hundred results among all documents. */
  readonly all: WalkRecord;
  /** Of up to ten results among a quarter of the documents, chosen at random; nothing is needed in every other record. */
  readonly quarter: WalkRecord;
  /** Distances that a walk without a filter measures with each number of candidates. */
  readonly measured: Uint32Array;
}

/** Reads numbers one behind the other. */
class NumberReader<Numbers extends Uint32Array | Float32Array> {
  #at = 0;

  constructor(readonly numbers: Numbers) {}

  /** A copy: the results of many requests share one buffer. */
  take(count: number): Numbers {
    const from = this.#at;
    this.#at += count;
    return this.numbers.slice(from, this.#at) as Numbers;
  }
}

/** The layout of `RecallProbe::answer` in cpp/recall-probe.cc. */
export function readProbes({ integers, floats }: NativeResult, candidates: number): RecallProbe[] {
  const numbers = new NumberReader(integers);
  const distances = new NumberReader(floats);
  const [linked = 0, queries = 0] = numbers.take(2);
  const readWalk = (): WalkRecord => {
    const [count = 0] = numbers.take(1);
    const needed = numbers.take(count);
    const stages = distances.take(2 * STAGES.length);
    return {
      needed,
      contrasts: Float32Array.from(STAGES, (_, stage) => stages[2 * stage] ?? 1),
      tenths: Float32Array.from(STAGES, (_, stage) => stages[2 * stage + 1] ?? 0),
    };
  };
  return Array.from({ length: queries }, () => ({
    linked,
    all: readWalk(),
    quarter: readWalk(),
    measured: numbers.take(candidates),
  }));
}
