import { HttpConnection } from "./http-connection.js";
import { percentile } from "./percentile.js";
import type { Workload } from "./workload.js";

const FAULTS_SHOWN_MAX = 5;
/** A run with this many faults is stopped: its figures would mean nothing. */
const FAULTS_MAX = 100;

export interface LoopLimits {
  /** The run ends after this time at the latest, with fewer requests than planned. */
  readonly secondsMax: number;
  /** No more than this many requests a second, evenly spaced; null is as fast as the answers come. */
  readonly requestsPerSecond: number | null;
}

export interface LoopReport {
  readonly requests: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** How often each HTTP status came. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly faults: number;
  /** The first few faults in words. */
  readonly faultsShown: readonly string[];
}

/**
 * Requests `from` to `to` (exclusive) over all connections: each connection takes the next one as soon as its answer
 * has come and has been checked. Errors: `unavailable` when a connection breaks.
 */
export async function runClosedLoop(
  connections: readonly HttpConnection[],
  workload: Workload,
  from: number,
  to: number,
  limits: LoopLimits,
): Promise<LoopReport> {
  const latencies = new Float64Array(to - from);
  const statuses: Record<string, number> = {};
  const faultsShown: string[] = [];
  let faults = 0;
  let next = from;
  let done = 0;
  const start = performance.now();
  const deadline = start + limits.secondsMax * 1000;

  const work = async (connection: HttpConnection): Promise<void> => {
    while (next < to && faults < FAULTS_MAX && performance.now() < deadline) {
      const index = next++;
      const request = workload.request(index);
      if (limits.requestsPerSecond !== null) {
        await sleepUntil(start + ((index - from) * 1000) / limits.requestsPerSecond);
      }
      const sent = performance.now();
      const response = await connection.send(request);
      latencies[done++] = performance.now() - sent;
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      const fault = workload.fault(index, response);
      if (fault === undefined) continue;
      faults++;
      if (faultsShown.length < FAULTS_SHOWN_MAX) faultsShown.push(fault);
    }
  };
  await Promise.all(connections.map(work));

  const seconds = (performance.now() - start) / 1000;
  const sorted = latencies.subarray(0, done).sort();
  const p50Ms = percentile(sorted, 0.5);
  const p99Ms = percentile(sorted, 0.99);
  return { requests: done, seconds, p50Ms, p99Ms, statuses, faults, faultsShown };
}

function sleepUntil(time: number): Promise<void> {
  const wait = time - performance.now();
  return wait <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, wait));
}

export async function openConnections(url: URL, count: number): Promise<readonly HttpConnection[]> {
  return Promise.all(Array.from({ length: count }, () => HttpConnection.open(url)));
}
