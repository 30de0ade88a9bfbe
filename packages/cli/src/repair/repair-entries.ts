import {
  DamagedKeys,
  type FileDamage,
  type KeyHistory,
  NewestVersions,
  type RepairWorkshop,
  repairStore,
} from "@shoal/kv";
import { ShoalError } from "@shoal/model";

/** How every store is to be treated. */
export interface StoreTask {
  /** False: it is only looked at. */
  readonly isWritten: boolean;
  readonly nowMs: number;
  readonly onProgress: (bytes: number, allBytes: number) => void;
}

/** How many there are, and the first of their names. */
interface SomeKeys {
  count: number;
  readonly keys: string[];
}

export interface SalvagedEntries {
  readonly entries: number;
  readonly lost: SomeKeys;
  /** There as they were before a change that is lost. */
  readonly stale: SomeKeys;
  /** A newer change, or the deletion, may have been in what is damaged. */
  readonly doubtful: SomeKeys;
}

const KEYS_MAX = 10_000;

/** Repairs a store whose values are JSON, the schema's: an entry counts when its checksum holds and it can be parsed. */
export function repairEntries(folder: string, task: StoreTask) {
  let unreadable = 0;
  return repairStore<SalvagedEntries>({
    ...task,
    folder,
    inspect: {
      see: (version) => {
        if (version.kind === "damaged" || (version.kind === "value" && !isJson(version.payload))) unreadable += 1;
      },
      result: () =>
        unreadable === 0 ? undefined : { ...ENTRIES_DAMAGED, reason: `has ${unreadable} damaged entries` },
    },
    salvage,
    verify: async (store, { entries }) => {
      let count = 0;
      for await (const chunk of store.scan({})) count += chunk.filter(({ value }) => isJson(value)).length;
      if (count === entries) return;
      throw new ShoalError(
        "internal",
        `the new store has ${count} of ${entries} entries: the damaged one is left as it is`,
      );
    },
  });
}

/** Their keys tell where they are. */
const ENTRIES_DAMAGED: FileDamage = {
  file: "store",
  reason: "",
  offset: undefined,
  lower: new Uint8Array(0),
  upper: new Uint8Array(0),
  sequenceMax: -1,
};

async function salvage({ read, ledger, target, damage }: RepairWorkshop): Promise<SalvagedEntries> {
  const newest = new NewestVersions(ledger, target, (payload, rank) => (isJson(payload) ? { rank } : undefined));
  for await (const versions of read()) await newest.add(versions);
  const damaged = new DamagedKeys(damage.filter(({ file }) => file.endsWith(".sst")));
  const found = { entries: 0, lost: none(), stale: none(), doubtful: none() };
  for await (const histories of newest.histories()) {
    for (const history of histories) {
      const isKept = judge(history, damaged, found);
      if (isKept) found.entries += 1;
      else if (history.rank >= 0) await target?.write([{ type: "del", key: history.key }], { sync: false });
    }
  }
  return found;
}

function judge(history: KeyHistory, damagedKeys: DamagedKeys, found: SalvagedEntries): boolean {
  const { key, rank, written, deleted, damaged } = history;
  if (rank < 0) {
    if (damaged > deleted) add(found.lost, key);
    return false;
  }
  if (deleted > written) return false;
  if (damaged > written) add(found.stale, key);
  else if (damagedKeys.mayHaveLost(key, written)) add(found.doubtful, key);
  return true;
}

function none(): SomeKeys {
  return { count: 0, keys: [] };
}

function add(some: SomeKeys, key: Uint8Array): void {
  some.count += 1;
  if (some.keys.length < KEYS_MAX) some.keys.push(Buffer.from(key).toString());
}

function isJson(payload: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(payload).toString());
    return true;
  } catch {
    return false;
  }
}
