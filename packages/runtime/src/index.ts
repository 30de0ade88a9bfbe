export { Budget, type Holder, type Holding } from "./budget.js";
export { ByteBudget, type ByteBudgetOptions } from "./byte-budget.js";
export { firstPlace } from "./first-place.js";
export { Gate, type GateOptions } from "./gate.js";
export { IN_FLIGHT_MAX, InFlight } from "./in-flight.js";
export { InnerContext } from "./inner-context.js";
export { LateSignal } from "./late-signal.js";
export { MemoryBudget, type MemoryBudgetOptions, type MemoryLevel, type ShortMemory } from "./memory-budget.js";
export {
  type HeldKind,
  NOBODY,
  type RequestContext,
  type RequestObserver,
  type RowBytes,
  type Share,
  type WorkBounds,
} from "./request-context.js";
export { eventLoop, nextStep } from "./step-queue.js";
export { POOL_THREADS_MAX, poolThreads } from "./thread-pool.js";
export { TimedSignal } from "./timed-signal.js";
export { closeWork, finishWork, runWork, type Work } from "./work.js";
export { Yielder } from "./yielder.js";
