import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { holdStore } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { ResourceScope } from "@shoal/service-runtime";
import { repairShard } from "@shoal/shard";
import { type FoundStore, findStores, type StoreChoice, schemaStores } from "./find-stores.js";
import { repairEntries, type StoreTask } from "./repair-entries.js";
import type { StoreReport } from "./repair-report.js";

export interface FolderRepair extends StoreChoice {
  readonly dataPath: string;
  /** False: nothing is changed. */
  readonly isWritten: boolean;
  readonly nowMs: number;
  readonly onProgress: (store: string, bytes: number, allBytes: number) => void;
}

/**
 * Looks at the chosen stores of a data folder, one after the other, and repairs them. Fails with `unavailable` when a
 * process has the folder open, with `invalid` when it has no such stores; what keeps one store from being repaired is in its report.
 */
export async function repairDataFolder(repair: FolderRepair): Promise<readonly StoreReport[]> {
  const stores = await findStores(repair.dataPath, repair);
  const reports: StoreReport[] = [];
  // A server does not hold a shard that it could not open, but it holds its schema as long as it runs.
  await (await holdSchemas(repair.dataPath))[Symbol.asyncDispose]();
  for (const store of stores) if (store.views === undefined) reports.push(await repairOne(store, repair));
  await using _held = await holdSchemas(repair.dataPath);
  for (const store of stores) if (store.views !== undefined) reports.push(await repairOne(store, repair));
  return reports;
}

/** Keeps a server from starting until the scope is disposed of. */
async function holdSchemas(dataPath: string): Promise<ResourceScope> {
  const scope = new ResourceScope();
  try {
    for (const { folder } of await schemaStores(dataPath)) {
      const workshop = await mkdtemp(`${folder}.repair-`);
      scope.defer(() => rm(workshop, { recursive: true, force: true }));
      scope.use(await holdStore(folder, join(workshop, "lock"), false));
    }
    return scope;
  } catch (thrown) {
    await scope[Symbol.asyncDispose]();
    throw thrown;
  }
}

async function repairOne(store: FoundStore, { isWritten, nowMs, onProgress }: FolderRepair): Promise<StoreReport> {
  const { name, className, folder, views } = store;
  const task: StoreTask = { isWritten, nowMs, onProgress: (bytes, all) => onProgress(name, bytes, all) };
  const report = {
    store: name,
    className,
    objects: undefined,
    entries: undefined,
    keptAs: undefined,
    error: undefined,
  };
  const stateOf = (result: unknown) => (result === undefined ? "whole" : isWritten ? "mended" : "damaged");
  try {
    if (views === undefined) {
      const { damage, result, keptAs } = await repairEntries(folder, task);
      return { ...report, state: stateOf(result), damage, entries: result, keptAs };
    }
    const { damage, result, keptAs } = await repairShard({ rows: folder, views, ...task });
    return { ...report, state: stateOf(result), damage, objects: result, keptAs };
  } catch (thrown) {
    return { ...report, state: "failed", damage: [], error: ShoalError.from(thrown).message };
  }
}
