import { readFileSync } from "node:fs";
import { cpus } from "node:os";

const CALIBRATION_STEPS = 100_000_000;

export interface Machine {
  readonly cpuModel: string;
  readonly processors: number;
  /** CPU time of one fixed loop of integer arithmetic: figures of two machines compare as their calibrations do. */
  readonly calibrationMs: number;
}

export function describeMachine(): Machine {
  const processors = cpus();
  const before = process.cpuUsage();
  let state = 1;
  for (let step = 0; step < CALIBRATION_STEPS; step++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  const { user, system } = process.cpuUsage(before);
  // xorshift32 never reaches 0; testing it keeps the loop from being optimised away.
  if (state === 0) throw new Error("the calibration loop is broken");
  const cpuModel = processors[0]?.model ?? "unknown";
  return { cpuModel, processors: processors.length, calibrationMs: (user + system) / 1000 };
}

/** What the processors of this machine have done since it began, all together, in any unit. */
export interface ProcessorTimes {
  readonly all: number;
  /** Given to others by the host of a virtual machine, while somebody here wanted to run. */
  readonly stolen: number;
}

/** Its place among the times of a processor: user, nice, system, idle, iowait, irq, softirq, steal (proc(5)). */
const STEAL = 7;

/** Of the first line of `/proc/stat`. Guests' times, which stand behind, are in those of users already. */
export function parseProcessorTimes(stat: string): ProcessorTimes {
  const times = (stat.split("\n")[0] ?? "").trim().split(/ +/).slice(1).map(Number);
  const all = times.slice(0, STEAL + 1).reduce((sum, time) => sum + time, 0);
  return { all, stolen: times[STEAL] ?? 0 };
}

/** Nothing where the system does not tell. */
export function processorTimes(): ProcessorTimes {
  try {
    return parseProcessorTimes(readFileSync("/proc/stat", "utf8"));
  } catch {
    return { all: 0, stolen: 0 };
  }
}

/** Of all the time since `before`, the share that was stolen. */
export function stolenShare(before: ProcessorTimes, after: ProcessorTimes = processorTimes()): number {
  const all = after.all - before.all;
  return all === 0 ? 0 : (after.stolen - before.stolen) / all;
}
