import type { KeyValueStore } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import type { VectorIndex } from "@shoal/vector-index";
import { encodeHeadRecord, type Head } from "./head-record.js";
import { IdTable } from "./id-table.js";
import type { JournalRecord } from "./journal-record.js";
import { HEAD_KEY } from "./key-layout.js";
import { type LoadedSnapshots, loadSnapshots } from "./load-snapshots.js";
import { highestJournalSequence, readHead, readJournalAfter } from "./read-journal.js";
import { rebuildViews } from "./rebuild-views.js";
import { replayIntoIndex, replayIntoTable } from "./replay-journal.js";
import type { OnShardEvent, ViewName } from "./shard-events.js";
import { removeSnapshots, type SnapshotPaths } from "./snapshot-files.js";
import type { VectorIndexSource } from "./vector-indexes.js";
import { Views } from "./views.js";

export interface Recovery {
  readonly store: KeyValueStore;
  readonly paths: SnapshotPaths;
  readonly source: VectorIndexSource;
  /** Undefined: there has never been a vector. */
  readonly dimensions: number | undefined;
  readonly hashSeed: number;
  readonly replayEntriesMax: number;
  readonly onEvent: OnShardEvent;
}

export interface Recovered {
  readonly views: Views;
  readonly term: number;
  readonly replayedChanges: number;
  readonly rebuilt: readonly ViewName[];
  /** What both snapshots on disk have reached. */
  readonly snapshotSequence: number;
}

/**
 * Brings the views to the end of the journal: each from its snapshot and the changes since then, or anew from the rows
 * when the snapshot or the journal does not serve. A snapshot that has seen more than the store holds is not believed.
 */
export async function recover(recovery: Recovery): Promise<Recovered> {
  const { store, source, hashSeed, onEvent } = recovery;
  const dimensions = source.skip ? undefined : recovery.dimensions;
  const head = await readHead(store);
  const loaded = await loadSnapshots(recovery.paths, source, dimensions, hashSeed, onEvent);
  const indexSequence = dimensions === undefined ? undefined : (loaded.index?.sequence ?? 0);
  const seen = Math.max(loaded.tableSequence, indexSequence ?? 0);
  const records = await usableJournal(recovery, head, [loaded.tableSequence, indexSequence ?? Number.MAX_VALUE], seen);
  const sequence =
    head === undefined ? Math.max(seen, await highestJournalSequence(store)) : Math.max(seen, head.sequence);

  const tableFollows = follows(records, loaded.tableSequence, sequence);
  const indexFollows = indexSequence === undefined || follows(records, indexSequence, sequence);
  const index = await indexToFill(source, loaded, dimensions, indexFollows);
  const table = tableFollows ? (loaded.table ?? new IdTable(hashSeed)) : undefined;
  if (table !== undefined) replayIntoTable(table, records ?? [], loaded.tableSequence);

  const rebuilt: ViewName[] = [
    ...(tableFollows ? [] : (["ids"] as const)),
    ...(indexFollows ? [] : (["vectors"] as const)),
  ];
  const views =
    table !== undefined && indexFollows
      ? new Views(table, index, sequence)
      : await rebuild(
          recovery,
          rebuilt,
          table,
          index,
          sequence,
          head !== undefined && seen > head.sequence ? loaded.table : undefined,
        );
  if (index !== undefined && indexFollows && indexSequence !== undefined) {
    await replayIntoIndex(index, views.table, records ?? [], indexSequence, views.sequence, store, onEvent);
  }
  views.table.adoptFreeDocuments();
  if (views.sequence !== head?.sequence) await healHead(store, views.sequence, head?.term ?? 0);
  const oldest = Math.min(loaded.tableSequence, indexSequence ?? Number.MAX_VALUE);
  return {
    views,
    term: head?.term ?? 0,
    replayedChanges: rebuilt.length > 0 ? 0 : sequence - Math.min(oldest, sequence),
    rebuilt,
    snapshotSequence: rebuilt.length > 0 ? 0 : oldest,
  };
}

/** The records that the views lack; undefined when the journal cannot be used. */
async function usableJournal(
  recovery: Recovery,
  head: Head | undefined,
  reached: readonly number[],
  seen: number,
): Promise<readonly JournalRecord[] | undefined> {
  const { store, onEvent, replayEntriesMax } = recovery;
  if (head === undefined) {
    onEvent({ type: "damageFound", damage: { what: "journal", reason: "the head record is damaged" } });
    return undefined;
  }
  if (seen > head.sequence) {
    const damage = { what: "lostChanges", storeSequence: head.sequence, snapshotSequence: seen } as const;
    onEvent({ type: "damageFound", damage });
    return undefined;
  }
  const after = Math.min(head.sequence, ...reached.filter((sequence) => head.sequence - sequence <= replayEntriesMax));
  try {
    return await readJournalAfter(store, after);
  } catch (thrown) {
    const error = ShoalError.from(thrown);
    if (error.code !== "dataLoss") throw error;
    onEvent({ type: "damageFound", damage: { what: "journal", reason: error.message } });
    return undefined;
  }
}

/** Whether the records lead from `from` to `to` without a gap. */
function follows(records: readonly JournalRecord[] | undefined, from: number, to: number): boolean {
  if (records === undefined) return false;
  if (from === to) return true;
  const first = records.find((record) => record.lastSequence > from);
  return first !== undefined && first.firstSequence <= from + 1 && records.at(-1)?.lastSequence === to;
}

async function indexToFill(
  source: VectorIndexSource,
  loaded: LoadedSnapshots,
  dimensions: number | undefined,
  follows: boolean,
): Promise<VectorIndex | undefined> {
  if (dimensions === undefined || (follows && loaded.index !== undefined)) return loaded.index;
  await loaded.index?.[Symbol.asyncDispose]();
  return source.create(dimensions);
}

async function rebuild(
  recovery: Recovery,
  rebuilt: readonly ViewName[],
  table: IdTable | undefined,
  index: VectorIndex | undefined,
  sequence: number,
  expected: IdTable | undefined,
): Promise<Views> {
  const { store, paths, hashSeed, onEvent } = recovery;
  // What is on disk must not be believed by the next start either, should this one not come to its snapshots.
  await removeSnapshots(paths, rebuilt);
  const target = rebuilt.includes("vectors") ? index : undefined;
  const result = await rebuildViews({ store, table, index: target, sequence, hashSeed, expected, onEvent });
  index?.remove(Uint32Array.from(result.lost), index.sequence);
  return new Views(result.table, index, result.sequence);
}

async function healHead(store: KeyValueStore, sequence: number, term: number): Promise<void> {
  const value = encodeHeadRecord({ sequence, term });
  // A disk that takes no writes does not keep a shard from being read: the next start does all this again.
  await store.write([{ type: "put", key: HEAD_KEY, value }]).catch(() => {});
}
