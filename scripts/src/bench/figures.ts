/** The figures of one measured operation; null where there is nothing to tell. */
export interface RowFigures {
  /** CPU time of the server's processes an operation, user and system. */
  readonly cpuMicros: number | null;
  readonly recall: number | null;
  readonly requestsPerSecond: number | null;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
  /** Resident memory of the server's processes after the run. */
  readonly residentMb: number | null;
  /** A target that hangs on the run itself, instead of the row's. */
  readonly target?: number;
  /**
   * Of the time of this machine's processors meanwhile, what its host gave to others. A process is charged for a good part of
   * that: with more than a little, the figures say nothing.
   */
  readonly stolenShare?: number;
  /** What the figures cannot say, in a few words. */
  readonly note?: string;
}

export const NO_FIGURES: RowFigures = {
  cpuMicros: null,
  recall: null,
  requestsPerSecond: null,
  p50Ms: null,
  p99Ms: null,
  residentMb: null,
};
