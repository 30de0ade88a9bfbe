import { performance } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import { MemoryBudget, type MemoryLevel } from "@shoal/runtime";
import { type Logger, type Metrics, type ResourceScope, usedMemory } from "@shoal/service-runtime";
import { RoomMaker, type StorageNode } from "@shoal/storage-node";
import { giveMemoryBack } from "./give-memory-back.js";
import { gauge, labelledCounter, labelledGauge } from "./internal-port.js";
import type { ProcessOptions } from "./process-options.js";

const LOOK_PAUSE_MS = 1_000;

/** A cache in its bounds. */
interface BoundedCache {
  readonly bytesMax: number;
  readonly usedBytes: number;
}

interface Caches {
  readonly rows: BoundedCache;
  readonly indexes: BoundedCache;
}

/** The memory of this process against `MEMORY_BUDGET_BYTES`. What the caches may still take counts as used: reads are never refused. */
export function openMemoryBudget(
  { configuration, logger }: Pick<ProcessOptions, "configuration" | "logger">,
  caches: Caches,
): MemoryBudget {
  return new MemoryBudget({
    bytesMax: configuration.memoryBudgetBytes,
    usedBytes: () => usedMemory() + promisedBytes(caches),
    reclaim: giveMemoryBack,
    nowMs: () => performance.now(),
    onLevel: (level, usedBytes) => {
      const fields = { usedBytes, budgetBytes: configuration.memoryBudgetBytes };
      logger[level === "free" ? "info" : "warn"](fields, NEWS[level]);
    },
  });
}

const NEWS: Readonly<Record<MemoryLevel, string>> = {
  free: "memory is free again: everything is stored",
  full: "memory is short: no new objects and vectors are stored (MEMORY_BUDGET_BYTES)",
  exhausted: "memory is used up: shards are read-only but for deletions (MEMORY_BUDGET_BYTES)",
};

/** Measures from time to time, has vector indexes rebuilt where that gives memory back, and declares metrics. */
export function watchMemory(
  budget: MemoryBudget,
  node: StorageNode,
  caches: Caches,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics | undefined },
  scope: ResourceScope,
): void {
  const room = new RoomMaker({
    budget,
    shards: () => node.shards,
    onFailed: ({ className, shardName }, error) =>
      logger.warn({ class: className, shard: shardName, error }, "memory of removed vectors could not be given back"),
  });
  const timer = setInterval(() => {
    budget.look();
    room.look().catch((error: unknown) => logger.warn({ error }, "what could be given back of memory is not known"));
  }, LOOK_PAUSE_MS);
  timer.unref();
  scope.use({ [Symbol.dispose]: () => clearInterval(timer) });
  budget.look();
  if (metrics !== undefined) describeMemoryMetrics(metrics, budget, node, caches);
}

function describeMemoryMetrics(metrics: Metrics, budget: MemoryBudget, node: StorageNode, caches: Caches): void {
  gauge(metrics, "shoal_memory_budget_bytes", "MEMORY_BUDGET_BYTES, or its default.", () => budget.bytesMax);
  labelledGauge(
    metrics,
    "shoal_memory_used_bytes",
    "Memory that counts against the budget, by what it is used for; what they know of themselves, and the rest.",
    "part",
    () => partsOf(budget, node, caches),
  );
  const levels = "0: free, 1: nothing new is stored, 2: shards are read-only.";
  gauge(metrics, "shoal_memory_level", levels, () => LEVELS[budget.level]);
  const refused =
    "Writes that were refused because the budget was full, or exhausted, here or on another node with a copy in sync.";
  labelledCounter(metrics, "shoal_memory_refused_writes_total", refused, "level", () => budget.refusals);
}

const LEVELS: Readonly<Record<MemoryLevel, number>> = { free: 0, full: 1, exhausted: 2 };

/** What is used; `other` is what the parts do not know of. */
function partsOf(budget: MemoryBudget, node: StorageNode, caches: Caches): Readonly<Record<string, number>> {
  const { used_heap_size: heap } = getHeapStatistics();
  let vectors = 0;
  let ids = 0;
  for (const shard of node.shards) {
    const statistics = shard.statistics();
    vectors += statistics.vectors?.memoryBytes ?? 0;
    ids += statistics.idTableBytes;
  }
  const parts = {
    vectors,
    ids,
    row_cache: caches.rows.usedBytes,
    index_cache: caches.indexes.usedBytes,
    caches_free: promisedBytes(caches),
    heap,
  };
  const known = Object.values(parts).reduce((sum, value) => sum + value, 0);
  // Row stores, buffers of requests and responses, threads, the program, and what was freed and is kept.
  return { ...parts, other: Math.max(0, budget.usedBytes - known) };
}

function promisedBytes({ rows, indexes }: Caches): number {
  return Math.max(0, rows.bytesMax - rows.usedBytes) + Math.max(0, indexes.bytesMax - indexes.usedBytes);
}
