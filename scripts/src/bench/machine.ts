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
