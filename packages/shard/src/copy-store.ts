import type { KeyValueChange, KeyValueStore } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { type Change, type CopyBatch, type CopyName, type CopyState, INCOMPLETE } from "@shoal/replication";
import { changedObjects, wholeRecordsAfter } from "./changed-objects.js";
import type { CommitLoop } from "./commit-loop.js";
import type { CopiedGraph, GraphPieces } from "./copied-graph.js";
import { emptiedCopyState, isComplete } from "./copy-record.js";
import { encodeHeadRecord } from "./head-record.js";
import { IdSetDigest } from "./id-set-digest.js";
import { HEAD_KEY, journalKey, rowRange, touchedKey, touchedRange } from "./key-layout.js";
import type { OwnCopy } from "./own-copy.js";
import { cutJournal } from "./read-journal.js";
import { replicatedCommit } from "./replicated-commit.js";
import { type RowCursor, type RowSelection, StoredRows } from "./row-cursor.js";
import type { Snapshots } from "./snapshots.js";
import type { Views } from "./views.js";

/**
 * The store of one of a shard's copies, for the driver of its machine. What is written is durable, and then visible, when it resolves;
 * a write at a time, never beside a commit. After a failed one nobody knows what the store has: everything fails until it is opened again.
 * Only what fails with `unavailable` because the shard does not know a property yet has done nothing, and may be tried again.
 */
export interface CopyStore {
  readonly name: CopyName;
  /** Durable. */
  readonly state: CopyState;
  /** Whether the views lack a commit that the store has: one that was carried, and of which nobody knew what became of it. */
  readonly isBehind: boolean;
  /**
   * A commit of the primary on another copy: the same rows, document ids, sequences and times. A row that is newer already stays.
   * Waits for searches that may have found an object whose document is given to another one.
   */
  append(state: CopyState, entries: NonNullable<CopyBatch["entries"]>): Promise<void>;
  /**
   * Rows of a catch-up. What follows `cutAfter` in the journal goes; its objects and those of the rows are remembered, over restarts too,
   * until the copy is complete. `isFull`: everything the copy holds goes first. In one batch otherwise.
   */
  writeRows(state: CopyState, rows: NonNullable<CopyBatch["rows"]>): Promise<void>;
  /** Whether the vectors of the last full copy came linked, with the graph of another copy. */
  readonly hasCopiedGraph: boolean;
  writeState(state: CopyState): Promise<void>;
  /** Uuids of the journal after `after`, and those that a catch-up has touched. */
  changesAfter(after: number): Promise<readonly string[]>;
  openRows(selection: RowSelection): Promise<RowCursor>;
  /** The vector index, for a copy that gets all rows; undefined when nothing is linked in it. */
  openGraph(): Promise<GraphPieces | undefined>;
  /**
   * A piece of another copy's vector index, in order from 0 on, with which the next rows that are full begin; without all of them these are
   * reinserted into the graph. False: no more are wanted.
   */
  takeGraph(number: number, piece: Uint8Array, isLast: boolean): Promise<boolean>;
  /**
   * Of a primary whose commit is not acknowledged for long: fails the writes that wait with `waiting`, and those of that commit, which
   * may still be made, with `underWay`.
   */
  giveUp(waiting: ShoalError, underWay: ShoalError): void;
}

export interface StoredCopyOptions {
  readonly store: KeyValueStore;
  readonly views: Views;
  readonly copy: OwnCopy;
  readonly commits: CommitLoop;
  readonly snapshots: Snapshots;
  readonly graph: CopiedGraph;
  readonly place: string;
}

/** Objects that go, and keys that are deleted, with one write. */
const PART_OBJECTS = 1_000;
const PART_KEYS = 4_096;

export class StoredCopy implements CopyStore {
  readonly #options: StoredCopyOptions;

  constructor(options: StoredCopyOptions) {
    this.#options = options;
  }

  get isBehind(): boolean {
    return this.#options.commits.isBehind;
  }

  giveUp(waiting: ShoalError, underWay: ShoalError): void {
    this.#options.commits.giveUp(waiting, underWay);
  }

  get hasCopiedGraph(): boolean {
    return this.#options.graph.isInUse;
  }

  get name(): CopyName {
    return this.#options.copy.name;
  }
  get state(): CopyState {
    return this.#options.copy.state;
  }

  append(state: CopyState, { epoch, first, changes }: NonNullable<CopyBatch["entries"]>): Promise<void> {
    return this.#write(async () => {
      const { views, place } = this.#options;
      if (first !== views.sequence + 1 || changes.length === 0) {
        const what = `${changes.length} changes from ${first} on`;
        throw new ShoalError("internal", `${place} ends at ${views.sequence} and was sent ${what}`);
      }
      await this.#replicate(state, changes, { epoch, first });
    });
  }

  async writeRows(state: CopyState, rows: NonNullable<CopyBatch["rows"]>): Promise<void> {
    const { snapshots } = this.#options;
    if (!isComplete(this.state)) return this.#write((closing) => this.#writeRows(state, rows, closing));
    // Sequences may go back: a snapshot that was written before must never be believed again.
    await snapshots.pauseFor(() =>
      this.#write(async (closing) => {
        await snapshots.remove();
        await this.#writeRows(state, rows, closing);
      }),
    );
    if (isComplete(state)) snapshots.begin();
  }

  writeState(state: CopyState): Promise<void> {
    const { commits, copy } = this.#options;
    return this.#write(() => commits.writeState(state, copy));
  }

  async changesAfter(after: number): Promise<readonly string[]> {
    return [...(await changedObjects(this.#options.store, after))];
  }

  async openRows(selection: RowSelection): Promise<RowCursor> {
    return new StoredRows({ ...this.#options, ...selection });
  }

  openGraph(): Promise<GraphPieces | undefined> {
    return this.#options.graph.open();
  }

  takeGraph(number: number, piece: Uint8Array, isLast: boolean): Promise<boolean> {
    return this.#options.graph.take(number, piece, isLast);
  }

  /** To be called when the shard has been opened, before it is used. */
  async prepare(): Promise<void> {
    await this.#options.graph.clean();
    if (isComplete(this.state)) await this.#forgetTouched();
  }

  async #write(work: (closing: AbortSignal) => Promise<void>): Promise<void> {
    const { commits, snapshots } = this.#options;
    await commits.runForCopy(async (closing) => {
      const wasComplete = isComplete(this.state);
      await work(closing);
      if (wasComplete || !isComplete(this.state)) return;
      await this.#forgetTouched();
      snapshots.begin();
    });
  }

  async #replicate(
    state: CopyState,
    changes: readonly Change[],
    journal: { readonly epoch: number; readonly first: number } | undefined,
    also: readonly KeyValueChange[] = [],
  ): Promise<void> {
    const { views, commits, copy } = this.#options;
    const { dimensions, baseRows } = commits;
    const commit = await replicatedCommit(changes, { base: baseRows, dimensions, state, journal });
    const taken = new Set<number>();
    for (const { kind, document } of commit.entries) {
      if (kind === "put" && !views.table.has(document)) taken.add(document);
    }
    await views.recycling.whenFree(taken);
    await commits.replicate({ ...commit, batch: [...commit.batch, ...also] }, state, copy);
    this.#options.graph.changed(commit.entries);
  }

  async #writeRows(
    state: CopyState,
    { rows, cutAfter, isFull }: NonNullable<CopyBatch["rows"]>,
    closing: AbortSignal,
  ): Promise<void> {
    const { store, graph } = this.#options;
    if (isFull) {
      await graph.begin();
      await this.#clear(state);
      await graph.adopt();
    }
    const cut: KeyValueChange[] = [];
    for await (const { lastSequence, entries } of wholeRecordsAfter(store, cutAfter)) {
      cut.push({ type: "del", key: journalKey(lastSequence) });
      for (const { rawId } of entries) cut.push({ type: "put", key: touchedKey(rawId), value: new Uint8Array(0) });
    }
    await this.#replicate(state, rows, undefined, cut);
    if (state.through !== INCOMPLETE) await graph.settle(closing);
    if (isComplete(state)) await this.#forgetTouched();
  }

  /** Everything goes, in parts; should that stop in the middle, all rows are sent again. */
  async #clear(state: CopyState): Promise<void> {
    const { store, views, commits, copy } = this.#options;
    const { table } = views;
    const emptied = emptiedCopyState(state);
    views.endAt(0);
    await commits.writeState(emptied, copy);
    await cutJournal(store, Number.MAX_SAFE_INTEGER - 1);
    while (table.count > 0) {
      const part: Change[] = [];
      for (const document of table.newestFirst()) {
        const id = table.idOf(document);
        if (id !== undefined) part.push({ document: id, row: undefined });
        if (part.length === PART_OBJECTS) break;
      }
      await this.#replicate(emptied, part, undefined);
    }
    // What was lost with its id, or is damaged, goes by its key.
    const batch: KeyValueChange[] = [];
    const remove = (key: Uint8Array) => batch.push({ type: "del", key: Uint8Array.from(key) });
    for await (const chunk of store.scan(rowRange(), remove)) for (const { key } of chunk) remove(key);
    const ids = new IdSetDigest();
    batch.push({ type: "put", key: HEAD_KEY, value: encodeHeadRecord({ ...emptied.end, ids }) });
    await commits.writeState(emptied, copy, batch);
    table.expected = ids;
  }

  async #forgetTouched(): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const batch: KeyValueChange[] = [];
      for await (const chunk of store.scan({ ...touchedRange(), limit: PART_KEYS })) {
        for (const { key } of chunk) batch.push({ type: "del", key: Uint8Array.from(key) });
      }
      if (batch.length === 0) return;
      await store.write(batch, { sync: false });
    }
  }
}
