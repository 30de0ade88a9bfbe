import type { LoopLimits, LoopReport } from "./closed-loop.js";

/** What the load generator is started with: plain data, sent to it as JSON. */
export interface Load extends LoopLimits {
  readonly url: string;
  /** Keep-alive connections, each with one request under way. */
  readonly connections: number;
  /** Name of a module in `workloads/`, and what its `prepare` gets. */
  readonly workload: string;
  readonly parameters: unknown;
}

/** To the load generator, in this order. */
export type LoadCommand = "warmUp" | "run";

/** From the load generator: `ready` when requests are prepared, `warm`, `done`; or `failed`, and it exits. */
export type LoadEvent =
  | { readonly type: "ready" }
  | { readonly type: "warm" }
  | { readonly type: "done"; readonly report: LoopReport; readonly recall: number | null }
  | { readonly type: "failed"; readonly message: string };
