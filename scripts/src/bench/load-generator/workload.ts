import type { HttpResponse } from "./http-response-parser.js";

/**
 * What one run asks of the server. A workload is made inside the load generator by the module
 * `workloads/<name>.ts`, from plain parameters.
 */
export interface Workload {
  /** Requests that are sent and checked before the measured ones, and not measured. */
  readonly warmUpRequests: number;
  /** Requests that are measured. */
  readonly requests: number;
  /** Request `index` of the warm-up and measured ones together, 0 to `warmUpRequests + requests` (exclusive). */
  request(index: number): Buffer;
  /** What is wrong with the response to request `index`; undefined when nothing is. Called for every response. */
  fault(index: number, response: HttpResponse): string | undefined;
  /** Recall over the measured requests, for those that search. Called once, after the run. */
  recall?(): number;
}

/** What a workload module exports. */
export interface WorkloadModule<Parameters> {
  prepare(url: URL, parameters: Parameters): Promise<Workload>;
}
