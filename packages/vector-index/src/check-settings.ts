import { ShoalError } from "@shoal/model";
import { DIMENSIONS_MAX, MAX_CONNECTIONS_MAX, MAX_CONNECTIONS_MIN } from "@shoal/native";
import type { VectorIndexSettings, VectorSearchSettings } from "./vector-index.js";

const EF_MAX = 2 ** 31 - 1;
/** More documents than this no index holds: a higher cutoff is none. */
export const FLAT_SEARCH_CUTOFF_MAX = 2 ** 32 - 1;

export function checkWhole(name: string, value: number, least: number, most: number): void {
  if (Number.isInteger(value) && value >= least && value <= most) return;
  throw new ShoalError(
    "invalid",
    `vector index: ${name} must be a whole number from ${least} to ${most}, got ${value}`,
  );
}

/** The settings as the graph takes them: fewer connections than it needs to hold together act as the fewest. */
export function checkedSettings(settings: VectorIndexSettings): VectorIndexSettings {
  const { dimensions, maxConnections, efConstruction } = settings;
  checkWhole("dimensions", dimensions, 1, DIMENSIONS_MAX);
  checkWhole("maxConnections", maxConnections, 1, MAX_CONNECTIONS_MAX);
  checkWhole("efConstruction", efConstruction, 1, EF_MAX);
  return { dimensions, maxConnections: Math.max(maxConnections, MAX_CONNECTIONS_MIN), efConstruction };
}

export function checkEf(ef: number): void {
  checkWhole("ef", ef, -1, EF_MAX);
}

export function checkSearchSettings(settings: VectorSearchSettings): void {
  checkEf(settings.ef);
  const { targetRecall } = settings;
  if (!(targetRecall > 0 && targetRecall <= 1)) {
    throw new ShoalError("invalid", `vector index: targetRecall must be above 0 and at most 1, got ${targetRecall}`);
  }
  checkWhole("flatSearchCutoff", settings.flatSearchCutoff, 0, Number.MAX_SAFE_INTEGER);
  checkWhole("unindexedVectorsMax", settings.unindexedVectorsMax, 0, 2 ** 32 - 1);
  checkWhole("vectorCacheMaxObjects", settings.vectorCacheMaxObjects ?? 0, 0, Number.MAX_SAFE_INTEGER);
  const { cleanupIntervalSeconds: seconds } = settings;
  if (!(seconds >= 0) || !Number.isFinite(seconds)) {
    throw new ShoalError("invalid", `vector index: cleanupIntervalSeconds must not be negative, got ${seconds}`);
  }
}
