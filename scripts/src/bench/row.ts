import type { Bench } from "./bench.js";
import type { RowFigures } from "./figures.js";

/** One measured operation of the table of targets. */
export interface Row {
  /** As in the results: `H1`, `H8-get`. */
  readonly id: string;
  /** The name that selects it together with its siblings: `H8`. */
  readonly group: string;
  readonly operation: string;
  /** In the unit of `figure`; null for none. */
  readonly target: number | null;
  /** Which figure the target is for. */
  readonly figure: "cpuMicros" | "p50Ms" | "p99Ms" | "residentMb";
  /** A run below this recall misses its target whatever it costs. */
  readonly recallMin?: number;
  /** Runs when no row is named. */
  readonly byDefault: boolean;
  /** Cannot run against a server that somebody else started. */
  readonly needsOwnServer: boolean;
  run(bench: Bench): Promise<RowFigures>;
}
