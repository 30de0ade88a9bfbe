import type { KeyValueStore } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import type { CopyState } from "@shoal/replication";
import type { VectorIndex } from "@shoal/vector-index";
import { isComplete } from "./copy-record.js";
import { encodeHeadRecord, type Head } from "./head-record.js";
import { IdTable } from "./id-table.js";
import type { JournalRecord } from "./journal-record.js";
import { HEAD_KEY } from "./key-layout.js";
import { type EarlySnapshots, type LoadedSnapshots, loadSnapshots } from "./load-snapshots.js";
import { highestJournalSequence, readHead, readJournalAfter } from "./read-journal.js";
import type { RebuildRoom } from "./rebuild-room.js";
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
  /** Undefined: nothing was read yet. */
  readonly early: EarlySnapshots | undefined;
  /** Undefined: there has never been a vector. */
  readonly dimensions: number | undefined;
  /** False: by the format record there has never been a vector, which earlier builds did not correct in shards that were made empty. */
  readonly areVectorsNoted: boolean;
  readonly hashSeed: number;
  readonly replayEntriesMax: number;
  /** For an index that is built from rows. */
  readonly room: RebuildRoom;
  /** Undefined: the shard has one copy. */
  readonly copy: CopyState | undefined;
  readonly onEvent: OnShardEvent;
}

export interface Recovered {
  readonly views: Views;
  readonly epoch: number;
  readonly replayedChanges: number;
  readonly rebuilt: readonly ViewName[];
  /** What both snapshots on disk have reached. */
  readonly snapshotSequence: number;
}

/**
 * Brings the views to the end of the journal: each from its snapshot and the changes since then, or again from the rows
 * when the snapshot or the journal does not serve. A snapshot that has seen more than the store holds is not believed.
 * The ids in the head record tell whether the table has them all. Those of a copy end where its state says. While it is incomplete
 * its rows are ahead of its journal, which says nothing about the views then.
 */
export async function recover(recovery: Recovery): Promise<Recovered> {
  const { store, source, onEvent } = recovery;
  const head = await readHead(store);
  const { copy, areVectorsNoted } = recovery;
  const usesJournal = copy === undefined || isComplete(copy);
  const isNew = !areVectorsNoted && usesJournal && head?.sequence === 0;
  const dimensions = source.skip || isNew ? undefined : recovery.dimensions;
  let unusable: readonly ViewName[] = [];
  if (!usesJournal) unusable = ["ids", "vectors"];
  // It may have been begun anew after some vectors: the rows have them all.
  else if (!areVectorsNoted && dimensions !== undefined) unusable = ["vectors"];
  const loaded = await usableSnapshots(recovery, dimensions, unusable);
  const indexSequence = dimensions === undefined ? undefined : (loaded.index?.sequence ?? 0);
  const seen = Math.max(loaded.tableSequence, indexSequence ?? 0);
  const records = await usableJournal(recovery, head, [loaded.tableSequence, indexSequence ?? Number.MAX_VALUE], seen);
  const reached =
    head === undefined ? Math.max(seen, await highestJournalSequence(store)) : Math.max(seen, head.sequence);
  const sequence = copy?.end.sequence ?? reached;

  const believed = head !== undefined && seen <= head.sequence;
  const follows = (from: number) => believed && usesJournal && leads(records, from, sequence);
  const tableFollows = follows(loaded.tableSequence);
  const indexFollows = indexSequence === undefined || follows(indexSequence);
  const index = await indexToFill(source, loaded, dimensions, indexFollows);
  const table = tableFollows ? (loaded.table ?? new IdTable(recovery.hashSeed)) : undefined;
  if (table !== undefined) replayIntoTable(table, records ?? [], loaded.tableSequence);

  const rebuilt: ViewName[] = [
    ...(tableFollows ? [] : (["ids"] as const)),
    ...(indexFollows ? [] : (["vectors"] as const)),
  ];
  let views: Views;
  let ids = head?.ids;
  if (table !== undefined && indexFollows) views = new Views(table, index, sequence);
  else {
    const hasLostChanges = head !== undefined && !believed;
    const earlier = loaded.table;
    const objects = ids?.count ?? earlier?.count ?? 0;
    const made = await rebuild(recovery, { objects, rebuilt, table, index, sequence, earlier, hasLostChanges });
    views = made.views;
    const namesAll = !hasLostChanges || (ids !== undefined && loaded.tableSequence === seen);
    // Without the last head, what was found is all there is, unless something could not be read.
    if (!believed) ids = made.damaged || !namesAll ? undefined : views.table.digest.copy();
  }
  if (index !== undefined && indexFollows && indexSequence !== undefined) {
    await replayIntoIndex(index, views.table, records ?? [], indexSequence, views.sequence, store, onEvent);
  }
  if (copy !== undefined) views.endAt(sequence);
  views.table.adoptFreeDocuments();
  views.table.expected = ids;
  if (views.table.doubtful) {
    const count = ids === undefined ? undefined : Math.max(0, ids.count - views.table.count);
    onEvent({ type: "damageFound", damage: { what: "unknownRows", count } });
  }
  if (views.sequence !== head?.sequence)
    await healHead(store, { sequence: views.sequence, epoch: head?.epoch ?? 0, ids });
  const oldest = Math.min(loaded.tableSequence, indexSequence ?? Number.MAX_VALUE);
  return {
    views,
    epoch: head?.epoch ?? 0,
    replayedChanges: rebuilt.length > 0 ? 0 : sequence - Math.min(oldest, sequence),
    rebuilt,
    snapshotSequence: rebuilt.length > 0 ? 0 : oldest,
  };
}

/** What is on disk, without what is unusable, which is removed. */
async function usableSnapshots(
  { paths, source, early, hashSeed, onEvent }: Recovery,
  dimensions: number | undefined,
  unusable: readonly ViewName[],
): Promise<LoadedSnapshots> {
  if (unusable.length > 0) {
    await early?.discard();
    await removeSnapshots(paths, unusable);
  } else {
    const loaded = await early?.take(dimensions, onEvent);
    if (loaded !== undefined) return loaded;
  }
  return loadSnapshots(paths, source, dimensions, hashSeed, onEvent);
}

/** The records that the views lack; undefined when the journal cannot be used. */
async function usableJournal(
  recovery: Recovery,
  head: Head | undefined,
  reached: readonly number[],
  seen: number,
): Promise<readonly JournalRecord[] | undefined> {
  const { store, onEvent, replayEntriesMax, copy } = recovery;
  if (head === undefined) {
    onEvent({ type: "damageFound", damage: { what: "journal", reason: "the head record is damaged" } });
    return undefined;
  }
  if (seen > head.sequence) {
    const damage = { what: "lostChanges", storeSequence: head.sequence, snapshotSequence: seen } as const;
    onEvent({ type: "damageFound", damage });
    return undefined;
  }
  if (copy !== undefined && !isComplete(copy)) return undefined;
  const after = Math.min(head.sequence, ...reached.filter((sequence) => head.sequence - sequence <= replayEntriesMax));
  if (after === head.sequence) return [];
  try {
    return await readJournalAfter(store, after);
  } catch (thrown) {
    const error = ShoalError.from(thrown);
    if (error.code !== "dataLoss") throw error;
    // What a copy still has from before its base may have a gap behind it: a catch-up brought rows only.
    if (copy === undefined || after >= copy.base) {
      onEvent({ type: "damageFound", damage: { what: "journal", reason: error.message } });
    }
    return undefined;
  }
}

/** Whether the records lead from `from` to `to` without a gap. */
function leads(records: readonly JournalRecord[] | undefined, from: number, to: number): boolean {
  if (from === to) return true;
  if (records === undefined) return false;
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

interface RebuildPlan {
  /** As far as is known. */
  readonly objects: number;
  readonly rebuilt: readonly ViewName[];
  readonly table: IdTable | undefined;
  readonly index: VectorIndex | undefined;
  readonly sequence: number;
  readonly earlier: IdTable | undefined;
  readonly hasLostChanges: boolean;
}

async function rebuild(
  recovery: Recovery,
  { objects, rebuilt, table, index, sequence, earlier, hasLostChanges }: RebuildPlan,
): Promise<{ readonly views: Views; readonly damaged: boolean }> {
  const { store, paths, hashSeed, onEvent } = recovery;
  // What is on disk must not be believed by the next start either, should this one not come to its snapshots.
  await removeSnapshots(paths, rebuilt);
  const target = rebuilt.includes("vectors") ? index : undefined;
  const options = { store, table, index: target, sequence, hashSeed, earlier, hasLostChanges, onEvent };
  const result =
    target === undefined
      ? await rebuildViews(options)
      : await recovery.room.run(target, objects, (pace) => rebuildViews({ ...options, pace }));
  index?.remove(Uint32Array.from(result.lost), index.sequence);
  return { views: new Views(result.table, index, result.sequence), damaged: result.damaged };
}

async function healHead(store: KeyValueStore, head: Head): Promise<void> {
  const value = encodeHeadRecord(head);
  // A disk that takes no writes does not keep a shard from being read: the next start does all this again.
  await store.write([{ type: "put", key: HEAD_KEY, value }]).catch(() => {});
}
