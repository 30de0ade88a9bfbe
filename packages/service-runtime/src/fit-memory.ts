import { ShoalError } from "@shoal/model";
import type { MemoryLimit } from "./memory-limit.js";
import type { Setting, SettingsReader } from "./setting.js";
import { LIMIT_SETTINGS, MEMORY_SETTINGS } from "./settings/limits.js";

/** What is not the budget's is for what the process does not see: its files in the page cache, the system's own. */
const BUDGET_PART = 0.8;

/** So much of the budget may be promised to caches and to requests under way; the rest is for vectors, ids and the program. */
const PROMISED_PART = 0.75;

/** What may be used in full at the same time, in the one process that has all of it. */
const PROMISED = {
  requestBodiesBytesMax: LIMIT_SETTINGS.requestBodiesBytesMax,
  answersBytesMax: LIMIT_SETTINGS.answersBytesMax,
  storeMemoryBytes: MEMORY_SETTINGS.storeMemoryBytes,
  rowCacheBytes: MEMORY_SETTINGS.rowCacheBytes,
  indexCacheBytes: MEMORY_SETTINGS.indexCacheBytes,
} as const;
type Promised = keyof typeof PROMISED;

/** `MEMORY_BUDGET_BYTES`, or its default for that limit. Warns of one that is above the limit. */
export function readMemoryBudget(settings: SettingsReader, limit: MemoryLimit): number {
  const { memoryBudgetBytes } = MEMORY_SETTINGS;
  const given = settings.read(memoryBudgetBytes);
  if (given === undefined) return Math.max(1, Math.floor(limit.bytes * BUDGET_PART));
  if (given > limit.bytes) {
    settings.warn(
      `${memoryBudgetBytes.variable} is ${given}, more than the ${limit.bytes} bytes of ${limit.source}: the process may ` +
        "be killed for its memory before it refuses anything",
    );
  }
  return given;
}

/** The value of a setting, whose default is at most its part of the budget. */
export function readWithinBudget(setting: Setting<unknown>, settings: SettingsReader, budgetBytes: number): unknown {
  const { fallback, fallbackPart } = setting;
  if (fallbackPart === undefined || typeof fallback !== "number" || settings.find(setting) !== undefined) {
    return settings.read(setting);
  }
  const most = Math.floor(budgetBytes * fallbackPart);
  if (most >= fallback) return fallback;
  // The rules of the setting hold for its default, too.
  const parsed = setting.parse(most);
  if ("value" in parsed) return parsed.value;
  throw new ShoalError("internal", `the default of ${setting.variable} within ${budgetBytes} bytes ${parsed.rule}`);
}

/** Warns where caches and requests may together take more than leaves room for data. */
export function warnOfPromises(
  values: Readonly<Record<Promised, number>>,
  budgetBytes: number,
  settings: SettingsReader,
): void {
  const names = Object.keys(PROMISED) as Promised[];
  const sum = names.reduce((all, name) => all + values[name], 0);
  if (sum <= budgetBytes * PROMISED_PART) return;
  const named = names.map((name) => `${PROMISED[name].variable} ${values[name]}`).join(", ");
  settings.warn(
    `${named} are together ${sum} bytes, more than three quarters of ${MEMORY_SETTINGS.memoryBudgetBytes.variable} ` +
      `(${budgetBytes}): make them smaller, or the budget larger`,
  );
}
