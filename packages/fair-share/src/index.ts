export { Budget, type Holder, type Holding } from "./budget.js";
export { eventLoop } from "./event-loop.js";
export { FairQueue } from "./fair-queue.js";
export { Gate, type GateOptions } from "./gate.js";
export { MemoryBudget, type MemoryBudgetOptions, type MemoryLevel } from "./memory-budget.js";
export { NOBODY, type Share } from "./share.js";
export { POOL_THREADS_MAX, poolThreads } from "./thread-pool.js";
export { type WorkBounds, WorkTurns } from "./work-turns.js";
