import { type SimulationOptions, type SimulationResult, simulate } from "./simulated-cluster.js";

/** The same seed with as few of its faults as still make it fail. The failure may be another one. */
export function shrink(options: SimulationOptions): {
  readonly options: SimulationOptions;
  readonly result: SimulationResult;
} {
  let result = simulate(options);
  let kept = options.faults ?? result.faults.map((_, at) => at);
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false;
    for (const fault of kept) {
      const fewer = kept.filter((one) => one !== fault);
      const attempt = simulate({ ...options, faults: fewer });
      if (attempt.failure === undefined) continue;
      kept = fewer;
      result = attempt;
      isSmaller = true;
    }
  }
  return { options: { ...options, faults: kept }, result };
}
