import { setTimeout as pause } from "node:timers/promises";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { returnFreeMemory } from "@shoal/native";
import { type Logger, type ResourceScope, usedMemory } from "@shoal/service-runtime";
import { giveBackAtRest } from "./give-back-at-rest.js";
import { oncePerPause } from "./once-per-pause.js";

/** From a snapshot until memory is given back; snapshots that follow each other share that. */
const PAUSE_MS = 1_000;

/** How often it is looked whether the process rests. */
const LOOK_PAUSE_MS = 1_000;

/** What the native side gives back in the background it has given back by then. */
const RETURN_MS = 300;

/** A larger heap is not collected where nobody needs memory: that would stop the event loop for more than 100 ms. */
const HEAP_BYTES_MAX = 256 * 1024 * 1024;

type Collect = (options: { readonly type: "major"; readonly execution: "async" }) => Promise<void>;

/** Gives memory back that was freed, soon after a call. */
export function returnFreeMemoryOnce(): () => void {
  return oncePerPause(returnFreeMemory, PAUSE_MS);
}

/**
 * Gives back what this process keeps without using it: garbage of JavaScript, and memory that was freed. Stops the event loop
 * for about 20 ms per 50 MB of heap; resolves with the milliseconds, which count what the collection waited for its turn, too.
 */
export async function giveMemoryBack(): Promise<number> {
  const begunMs = performance.now();
  await collector()({ type: "major", execution: "async" });
  const tookMs = performance.now() - begunMs;
  returnFreeMemory();
  await pause(RETURN_MS, undefined, { ref: false });
  return tookMs;
}

/** The same where memory is not short: without a collection where that would be noticed. */
async function giveMemoryBackInPassing(): Promise<void> {
  if (getHeapStatistics().used_heap_size <= HEAP_BYTES_MAX) await giveMemoryBack();
  else returnFreeMemory();
}

let found: Collect | undefined;

/** V8's own, which only a context sees that is made while the flag is set. */
function collector(): Collect {
  if (found === undefined) {
    setFlagsFromString("--expose-gc");
    found = runInNewContext("gc") as Collect;
    setFlagsFromString("--no-expose-gc");
  }
  return found;
}

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
