import { setTimeout as sleep } from "node:timers/promises";
import { NO_FIGURES, type RowFigures } from "./figures.js";
import type { Load } from "./load-generator/load.js";
import { type LoadResult, LoadRun } from "./load-run.js";
import { processorTimes, stolenShare } from "./machine.js";
import { cpuMicros, IDLE, residentMb, waitUntilIdle } from "./process-usage.js";

/** A server under test. */
export interface Target {
  readonly url: URL;
  /** Its processes; null when they are not known: then CPU and memory are not measured. */
  readonly pids: readonly number[] | null;
}

export const CONNECTIONS = 16;
/** A measured run ends after this time at the latest. */
const RUN_SECONDS_MAX = 20;

export interface MeasuredLoad {
  readonly workload: string;
  readonly parameters: unknown;
  /** 16 unless told. */
  readonly connections?: number;
  readonly secondsMax?: number;
  readonly requestsPerSecond?: number;
  /** By what the CPU time is divided, a request; 1 unless told. */
  readonly operationsPerRequest?: number;
  /** Also counts the work that the server puts off: until its processes rest. */
  readonly untilIdle?: boolean;
}

export interface Measurement extends RowFigures {
  readonly load: LoadResult;
}

/** Warm-up, rest, then the measured run: CPU time of the server's processes before and after it. */
export async function measure(target: Target, measured: MeasuredLoad): Promise<Measurement> {
  using run = await LoadRun.start(asLoad(target, measured));
  await run.warmUp();
  await rest(target);
  const before = target.pids === null ? null : cpuMicros(target.pids);
  const times = processorTimes();
  const load = await run.run();
  if (measured.untilIdle === true) await rest(target);
  const after = target.pids === null ? null : cpuMicros(target.pids);
  const operations = load.requests * (measured.operationsPerRequest ?? 1);
  return {
    ...NO_FIGURES,
    cpuMicros: before === null || after === null ? null : (after - before) / operations,
    recall: load.recall,
    requestsPerSecond: load.requests / load.seconds,
    p50Ms: load.p50Ms,
    p99Ms: load.p99Ms,
    residentMb: target.pids === null ? null : residentMb(target.pids),
    stolenShare: stolenShare(times),
    load,
  };
}

export function asLoad(target: Target, measured: MeasuredLoad): Load {
  return {
    url: target.url.href,
    connections: measured.connections ?? CONNECTIONS,
    secondsMax: measured.secondsMax ?? RUN_SECONDS_MAX,
    requestsPerSecond: measured.requestsPerSecond ?? null,
    workload: measured.workload,
    parameters: measured.parameters,
  };
}

/** Waits until the server rests; where its processes are not known, a fixed time. */
async function rest(target: Target): Promise<void> {
  if (target.pids === null) await sleep(IDLE.quietMs);
  else await waitUntilIdle(target.pids);
}
