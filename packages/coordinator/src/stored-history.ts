import type { Json } from "@shoal/model";
import type { FormerHistory } from "@shoal/rpc";
import type { MetaChange, MetaState } from "./meta-store.js";

const HISTORY_KEY = "history";

/**
 * Revision of the last change of a class. Stores that were written before nodes were registered lack it: all their
 * changes were changes of classes.
 */
const VERSION_KEY = "schemaVersion";

/** Who knows an older one keeps data that it cannot tell to be deleted. */
const FORMER_MAX = 256;

/** The history that versions of the schema belong to, and those that it goes on from, the latest last. */
export interface StoredHistory {
  readonly historyId: string;
  readonly former: readonly FormerHistory[];
}

/** `storeId`: of the store, whose own the first history is. */
export function historyOf(storeId: string, { entries }: MetaState): StoredHistory {
  return (entries.get(HISTORY_KEY) as StoredHistory | undefined) ?? { historyId: storeId, former: [] };
}

/**
 * A history of its own from `state` on. Each start of a coordinator begins one, because its store may be a backup that was
 * put back: who knows later versions of the former history then sees that they are not those of this one.
 */
export function beginHistory(storeId: string, state: MetaState, historyId: string): readonly MetaChange[] {
  const before = historyOf(storeId, state);
  if (before.historyId === historyId) return [];
  const former = [...before.former, { historyId: before.historyId, upTo: versionOf(state) }].slice(-FORMER_MAX);
  return [{ key: HISTORY_KEY, value: { historyId, former } as unknown as Json }];
}

export function versionOf({ revision, entries }: MetaState): number {
  return Number(entries.get(VERSION_KEY) ?? revision);
}

/** The id of the cluster when it is not that of the store: the schema of another store was brought back into this one. */
const CLUSTER_KEY = "cluster";

/**
 * What is added to the revision for the version of a change: versions go on from those of the store that was lost, so that
 * nobody takes a new one for an old one.
 */
const VERSION_BASE_KEY = "schemaVersionBase";

/** `storeId`: drawn when the store was made. */
export function clusterIdOf(storeId: string, { entries }: MetaState): string {
  return String(entries.get(CLUSTER_KEY) ?? storeId);
}

/** What makes a store that of a cluster whose schema, at that version, it goes on with. */
export function goOnFrom(clusterId: string, history: StoredHistory, version: number): readonly MetaChange[] {
  const former = history.former.slice(-FORMER_MAX);
  return [
    { key: CLUSTER_KEY, value: clusterId },
    { key: VERSION_BASE_KEY, value: version },
    { key: HISTORY_KEY, value: { historyId: history.historyId, former } as unknown as Json },
  ];
}

/** The version of a schema that is changed on `state`. */
export function nextVersion({ revision, entries }: MetaState): number {
  return Number(entries.get(VERSION_BASE_KEY) ?? 0) + revision + 1;
}

/** What fixes the version of the schema in a commit. */
export function putVersion(version: number): MetaChange {
  return { key: VERSION_KEY, value: version };
}

/** Whether a version is fixed. */
export function hasVersion({ entries }: MetaState): boolean {
  return entries.has(VERSION_KEY);
}
