import { performance } from "node:perf_hooks";
import { type Logger, type ResourceScope, usedMemory } from "@shoal/service-runtime";
import { giveBackAtRest } from "./give-back-at-rest.js";
import { giveMemoryBackInPassing } from "./give-memory-back.js";

const LOOK_PAUSE_MS = 1_000;

/** Gives back what work has left behind whenever this process has come to rest, until the scope ends. */
export function watchRest(logger: Logger, scope: ResourceScope): void {
  const atRest = giveBackAtRest({ busyPart: busyPart(), usedBytes: usedMemory, giveBack: giveMemoryBackInPassing });
  const timer = setInterval(() => {
    atRest().catch((error: unknown) => logger.warn({ error }, "memory that nothing uses could not be given back"));
  }, LOOK_PAUSE_MS);
  timer.unref();
  scope.use({ [Symbol.dispose]: () => clearInterval(timer) });
}

/** The part of the time since the last call in which the event loop was busy. */
function busyPart(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const before = last;
    last = performance.eventLoopUtilization();
    return performance.eventLoopUtilization(last, before).utilization;
  };
}
