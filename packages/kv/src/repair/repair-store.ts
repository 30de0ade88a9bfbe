import { mkdtemp, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ShoalError } from "@shoal/model";
import { freeBytes } from "../disk-of.js";
import type { KeyValueStore } from "../key-value-store.js";
import { openRocksStore } from "../open-rocks-store.js";
import { finishReplacing, replaceStore } from "../replace-store.js";
import type { RocksStore } from "../rocks-store.js";
import type { FileDamage, FoundVersion } from "./found-version.js";
import { holdStore } from "./held-store.js";
import { readStoreFiles } from "./read-store-files.js";

/** What a repair works with. */
export interface RepairWorkshop {
  /** Reads the damaged store's files once more. */
  readonly read: () => AsyncIterable<readonly FoundVersion[]>;
  /** Empty; for `NewestVersions`. */
  readonly ledger: KeyValueStore;
  /** Empty; becomes the store. Undefined: nothing is to be made. */
  readonly target: KeyValueStore | undefined;
  /** All that was found to be damaged. */
  readonly damage: readonly FileDamage[];
}

export interface StoreRepair<Result> {
  readonly folder: string;
  /** False: says what there is, and leaves everything as it is. */
  readonly isWritten: boolean;
  readonly nowMs: number;
  readonly onProgress?: (bytes: number, allBytes: number) => void;
  /** What makes a store damaged although its files are whole; told of every version, once. */
  readonly inspect?: { readonly see: (version: FoundVersion) => void; readonly result: () => FileDamage | undefined };
  /** Fills the target from what it reads, and says what came of it. */
  readonly salvage: (workshop: RepairWorkshop) => Promise<Result>;
  /** Throws when the new store, opened once more, is not what `salvage` has made. */
  readonly verify: (store: KeyValueStore, result: Result) => Promise<void>;
}

export interface StoreRepaired<Result> {
  readonly damage: readonly FileDamage[];
  /** Undefined: the store is whole, and was left as it is. */
  readonly result: Result | undefined;
  /** Where the damaged store is kept now. */
  readonly keptAs: string | undefined;
}

/**
 * Makes a new store of what can be read of a damaged one, beside it, and puts it in its place. The store must not be
 * open: `unavailable` when it is, or when there is no room for a copy. Whatever ends this in between, either the old store
 * is there or the new one, and another call starts again.
 */
export async function repairStore<Result>(repair: StoreRepair<Result>): Promise<StoreRepaired<Result>> {
  const { folder, isWritten, nowMs } = repair;
  if (isWritten) await finishReplacing(folder, nowMs);
  const workshop = await mkdtemp(`${folder}${WORKSHOP}`);
  try {
    await using _held = await holdStore(folder, join(workshop, "lock"), isWritten);
    if (isWritten) await removeOthers(workshop);
    const { damage, bytes } = await inspectFiles(repair);
    if (damage.length === 0) return { damage, result: undefined, keptAs: undefined };
    await checkRoom(folder, isWritten ? bytes * 1.25 : bytes / 4);
    const made = join(workshop, "store");
    const result = await salvageInto(repair, workshop, isWritten ? made : undefined, damage);
    if (!isWritten) return { damage, result, keptAs: undefined };
    const store = await openRocksStore({ folder: made, ...SMALL });
    try {
      await repair.verify(store, result);
    } finally {
      await store[Symbol.asyncDispose]();
    }
    return { damage, result, keptAs: await replaceStore(folder, made, nowMs) };
  } finally {
    await rm(workshop, { recursive: true, force: true });
  }
}

const WORKSHOP = ".repair-";
const SMALL = { ballastBytes: 0, cacheBytes: 8 << 20, writeBufferBytes: 16 << 20, diskReserveBytes: 0 };

async function inspectFiles<Result>({ folder, onProgress, inspect }: StoreRepair<Result>) {
  const damage: FileDamage[] = [];
  let bytes = 0;
  const onBytes = (done: number, all: number) => {
    bytes = all;
    onProgress?.(done, all);
  };
  for await (const versions of readStoreFiles(folder, { onDamage: (one) => damage.push(one), onProgress: onBytes })) {
    for (const version of versions) inspect?.see(version);
  }
  const found = inspect?.result();
  return { bytes, damage: found === undefined ? damage : [...damage, found] };
}

async function salvageInto<Result>(
  { folder, onProgress, salvage }: StoreRepair<Result>,
  workshop: string,
  made: string | undefined,
  damage: readonly FileDamage[],
): Promise<Result> {
  const opened: RocksStore[] = [];
  const open = async (path: string) => {
    const store = await openRocksStore({ folder: path, ...SMALL });
    opened.push(store);
    return store;
  };
  try {
    const ledger = await open(join(workshop, "ledger"));
    const target = made === undefined ? undefined : await open(made);
    const reading = { onDamage: () => {}, ...(onProgress && { onProgress }) };
    return await salvage({ read: () => readStoreFiles(folder, reading), ledger, target, damage });
  } finally {
    for (const store of opened) await store[Symbol.asyncDispose]();
  }
}

/** What repairs left that were killed; the store is held, so none is under way. */
async function removeOthers(workshop: string): Promise<void> {
  const own = basename(workshop);
  const prefix = own.slice(0, own.lastIndexOf(WORKSHOP) + WORKSHOP.length);
  for (const name of await readdir(dirname(workshop))) {
    if (name === own || !name.startsWith(prefix)) continue;
    await rm(join(dirname(workshop), name), { recursive: true, force: true });
  }
}

async function checkRoom(folder: string, neededBytes: number): Promise<void> {
  const place = dirname(folder);
  const free = await freeBytes(place);
  if (free >= neededBytes) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  throw new ShoalError(
    "unavailable",
    `store ${folder} needs about ${megabytes(neededBytes)} of free disk beside it to be repaired, there are ` +
      `${megabytes(free)}: make room, or copy the data folder to a larger disk and repair it there`,
  );
}
