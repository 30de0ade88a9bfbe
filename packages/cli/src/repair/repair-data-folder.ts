import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { holdStore, isReplaced } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { ResourceScope } from "@shoal/service-runtime";
import { repairShard } from "@shoal/shard";
import { repairEntries, type StoreTask } from "./repair-entries.js";
import type { StoreReport } from "./repair-report.js";

/** A store of a data folder. */
interface FoundStore {
  /** Its path in the data folder, without the `rows` of a shard. */
  readonly name: string;
  readonly folder: string;
  /** Where the snapshots are of a shard; undefined: it holds a schema. */
  readonly views: string | undefined;
  readonly className: string | undefined;
}

/** Stores that hold a schema: the coordinator's, and what a storage node knew last. */
const SCHEMA_STORES = ["schema", "known"];

/** What a person wants to be looked at; neither: everything. */
interface StoreChoice {
  /** `<class id>/<shard name>`. */
  readonly shard?: string | undefined;
  readonly isSchema: boolean;
}

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
  const report = { store: name, className };
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

/** The stores of a data folder that are chosen. Fails with `invalid` when there are none. */
async function findStores(dataPath: string, { shard, isSchema }: StoreChoice): Promise<readonly FoundStore[]> {
  const schemas = await schemaStores(dataPath);
  const shards = await shardStores(dataPath);
  if (schemas.length + shards.length === 0) {
    throw new ShoalError(
      "invalid",
      `--data-path must be the data folder of a server (PERSISTENCE_DATA_PATH), with 'schema', 'known' or 'shards' in it: got '${dataPath}'`,
    );
  }
  if (isSchema) {
    if (schemas.length > 0) return schemas;
    throw new ShoalError("invalid", `--schema: '${dataPath}' has no store of a schema, neither 'schema' nor 'known'`);
  }
  if (shard === undefined) return [...schemas, ...shards];
  const chosen = shards.filter(({ name }) => name === `shards/${shard}`);
  if (chosen.length > 0) return chosen;
  const names = shards.slice(0, 20).map(({ name }) => name.slice("shards/".length));
  throw new ShoalError(
    "invalid",
    `--shard must be the class id and the name of a shard, as in 'shards' of the data folder: got '${shard}', there ` +
      `are ${names.join(", ") || "none"}${shards.length > names.length ? ", …" : ""}`,
  );
}

/** The stores that a running server has open all the time. */
async function schemaStores(dataPath: string): Promise<FoundStore[]> {
  const stores: FoundStore[] = [];
  for (const name of SCHEMA_STORES) {
    const folder = join(dataPath, name);
    if (await isStore(folder)) stores.push({ name, folder, views: undefined, className: undefined });
  }
  return stores;
}

async function shardStores(dataPath: string): Promise<FoundStore[]> {
  const stores: FoundStore[] = [];
  for (const classId of await foldersIn(join(dataPath, "shards"))) {
    const classFolder = join(dataPath, "shards", classId);
    const className = await classNameIn(classFolder);
    for (const shardName of await foldersIn(classFolder)) {
      const folder = join(classFolder, shardName, "rows");
      if (!(await isStore(folder))) continue;
      const views = join(classFolder, shardName, "views");
      stores.push({ name: `shards/${classId}/${shardName}`, folder, views, className });
    }
  }
  return stores;
}

/** Names of classes and shards; a class that is being dropped has another one. */
async function foldersIn(path: string): Promise<string[]> {
  const entries = await readdir(path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isDirectory() && /^[A-Za-z0-9]{1,64}$/.test(entry.name))
    .map(({ name }) => name)
    .sort();
}

async function classNameIn(classFolder: string): Promise<string | undefined> {
  try {
    const marker = JSON.parse(await readFile(join(classFolder, "class.json"), "utf8")) as {
      readonly className?: unknown;
    };
    return typeof marker.className === "string" ? marker.className : undefined;
  } catch {
    // It serves to be read by people; the shard is found without it.
    return undefined;
  }
}

async function isStore(folder: string): Promise<boolean> {
  const found = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  return found?.isDirectory() || isReplaced(folder);
}
