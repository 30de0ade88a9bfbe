import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { ShoalError } from "@shoal/model";

/** Unit of the times in /proc/<pid>/stat: USER_HZ is 100 on Linux for x64 and arm64 (proc(5)). */
const TICK_MICROS = 10_000;
const POLL_MS = 100;

export interface IdleCriterion {
  /** So long the processes must have done next to nothing. */
  readonly quietMs: number;
  /** "Next to nothing": this much CPU over `quietMs`. */
  readonly cpuMicrosMax: number;
  readonly timeoutMs: number;
}

export const IDLE: IdleCriterion = { quietMs: 1000, cpuMicrosMax: 20_000, timeoutMs: 180_000 };

/** Fields 14 and 15 of /proc/<pid>/stat: user and system time of all threads, dead ones included, in µs. */
export function parseCpuMicros(stat: string): number {
  // The second field is the command in parentheses and may hold blanks and parentheses itself.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  if (!Number.isFinite(ticks)) throw new ShoalError("malformed", `no times in: ${stat}`);
  return ticks * TICK_MICROS;
}

/** `VmRSS` of /proc/<pid>/status, in MB of 2^20 bytes. */
export function parseResidentMb(status: string): number {
  const kilobytes = /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1];
  if (kilobytes === undefined) throw new ShoalError("malformed", "no VmRSS in the status of the process");
  return Number(kilobytes) / 1024;
}

/** User and system time of the processes together, in µs. Errors: `notFound` when one is gone. */
export function cpuMicros(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + parseCpuMicros(readProc(pid, "stat")), 0);
}

/** Resident memory of the processes together, in MB. Errors: `notFound` when one is gone. */
export function residentMb(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + parseResidentMb(readProc(pid, "status")), 0);
}

/**
 * Waits until the processes rest: work that was accepted and put off is done by then, so that it can be counted.
 * Errors: `deadlineExceeded` when they do not come to rest.
 */
export async function waitUntilIdle(
  pids: readonly number[],
  criterion: IdleCriterion = IDLE,
  usedMicros: () => number = () => cpuMicros(pids),
): Promise<void> {
  const samples = [usedMicros()];
  const samplesAcross = Math.ceil(criterion.quietMs / POLL_MS);
  for (let waited = 0; waited < criterion.timeoutMs; waited += POLL_MS) {
    await sleep(POLL_MS);
    const now = usedMicros();
    samples.push(now);
    const before = samples.at(-1 - samplesAcross);
    if (before !== undefined && now - before <= criterion.cpuMicrosMax) return;
  }
  throw new ShoalError("deadlineExceeded", `the server still works ${criterion.timeoutMs / 1000} s after the load`);
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch (cause) {
    throw new ShoalError("notFound", `there is no process ${pid}, or no /proc on this system`, { cause });
  }
}
