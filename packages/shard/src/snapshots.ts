import { diskOf, type KeyValueStore, snapshotWriters } from "@shoal/kv";
import { ShoalError } from "@shoal/model";
import { isComplete } from "./copy-record.js";
import { writeIdTableSnapshot } from "./id-table-snapshot.js";
import type { OwnCopy } from "./own-copy.js";
import { cutJournal } from "./read-journal.js";
import type { OnShardEvent } from "./shard-events.js";
import type { ShardLimits } from "./shard-limits.js";
import { removeSnapshots, type SnapshotPaths } from "./snapshot-files.js";
import type { Views } from "./views.js";

const QUIET_PART = 0.1;

export interface SnapshotsOptions {
  readonly store: KeyValueStore;
  readonly paths: SnapshotPaths;
  readonly views: Views;
  readonly limits: ShardLimits;
  /** None is written while it is incomplete, and its journal is kept. */
  readonly copy: OwnCopy | undefined;
  readonly onEvent: OnShardEvent;
}

/**
 * Decides when the views are written to disk, which bounds what the next start has to replay: after many changes, and
 * after fewer when the shard has come to rest. Writing goes on beside reads and writes.
 */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  /** What both files on disk have reached. */
  #sequence: number;
  /** Not before this one: set back after a failure. */
  #dueAfterFailure = 0;
  #writing: Promise<void> | undefined;
  #quiet: NodeJS.Timeout | undefined;
  #closed = false;
  /** None is written until it has resolved. */
  #held: Promise<unknown> | undefined;

  constructor(options: SnapshotsOptions, sequence: number) {
    this.#options = options;
    this.#sequence = sequence;
  }

  /** Changes that the files on disk lack. */
  get changes(): number {
    return this.#options.views.sequence - this.#sequence;
  }

  /** To be called after each commit, and once after opening. */
  committed(): void {
    const { limits, views } = this.#options;
    if (this.#closed || !this.#mayBegin) return;
    if (this.changes >= this.#changesDue() && views.sequence >= this.#dueAfterFailure) void this.#start();
    else if (this.#isDueWhenQuiet()) this.#startWhenQuiet(limits.snapshotQuietMs);
  }

  /** Writes both files. Fails when they cannot be written; does nothing for a copy that is incomplete. */
  async write(): Promise<void> {
    while (this.#held !== undefined || this.#writing !== undefined) await (this.#held ?? this.#writing);
    if (!this.#mayBegin) return;
    const writing = this.#write();
    // Another one, which may become due meanwhile, would write the same files.
    this.#writing = writing
      .catch(() => undefined)
      .then(() => {
        this.#writing = undefined;
      });
    await writing;
  }

  /** No snapshot begins by itself after this; resolves when none is being written. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#quiet);
    await this.#writing;
  }

  /** Runs `work`, which changes the views as no commit does, while no snapshot is being written. */
  async pauseFor(work: () => Promise<void>): Promise<void> {
    const before = this.#held;
    const run = async () => {
      await before;
      while (this.#writing !== undefined) await this.#writing;
      await work();
    };
    const running = run();
    const held = running.catch(() => undefined);
    this.#held = held;
    try {
      await running;
    } finally {
      if (this.#held === held) this.#held = undefined;
    }
    this.committed();
  }

  /** Takes those on disk away, durably; within `pauseFor`. */
  async remove(): Promise<void> {
    await removeSnapshots(this.#options.paths, ["ids", "vectors"]);
    this.#sequence = 0;
  }

  /** Begins to write them, however few changes they lack. */
  begin(): void {
    if (!this.#closed && this.#mayBegin) void this.#start();
  }

  get #mayBegin(): boolean {
    const { copy } = this.#options;
    return this.#held === undefined && (copy === undefined || isComplete(copy.state));
  }

  #changesDue(): number {
    const { limits, views } = this.#options;
    return Math.max(limits.snapshotChangesMin, limits.snapshotChangesFraction * views.table.count);
  }

  #isDueWhenQuiet(): boolean {
    return this.changes >= this.#changesDue() * QUIET_PART;
  }

  /** Pushed back by every commit, so that an import does not meet it. */
  #startWhenQuiet(delayMs: number): void {
    if (this.#quiet !== undefined) {
      this.#quiet.refresh();
      return;
    }
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      // A snapshot may have been written meanwhile, and few changes since.
      if (!this.#closed && this.#mayBegin && this.#isDueWhenQuiet()) void this.#start();
    }, delayMs);
    this.#quiet.unref();
  }

  #start(): Promise<void> {
    this.#writing ??= this.#write().then(
      () => {
        this.#writing = undefined;
        // The quiet time of what came meanwhile may have passed already.
        if (!this.#closed && this.#isDueWhenQuiet()) this.#startWhenQuiet(this.#options.limits.snapshotQuietMs);
      },
      (error: unknown) => {
        this.#writing = undefined;
        const { limits, views, onEvent } = this.#options;
        this.#dueAfterFailure = views.sequence + limits.snapshotChangesMin / 4;
        onEvent({ type: "snapshotFailed", error: ShoalError.from(error) });
      },
    );
    return this.#writing;
  }

  async #write(): Promise<void> {
    const { store, paths, copy } = this.#options;
    // Shards that come to rest together do not fill the threads that others wait for.
    const reached = await snapshotWriters.run(await diskOf(paths.ids), () => this.#writeFiles());
    this.#sequence = reached;
    await cutJournal(store, copy === undefined ? reached : Math.min(reached, copy.state.base));
  }

  async #writeFiles(): Promise<number> {
    const { paths, views, onEvent } = this.#options;
    const idsSequence = views.sequence;
    await writeIdTableSnapshot(paths.ids, { image: views.table.image(), sequence: idsSequence });
    onEvent({ type: "snapshotWritten", view: "ids", sequence: idsSequence });
    let reached = idsSequence;
    if (views.index !== undefined) {
      const sequence = await views.index.snapshot(paths.vectors);
      onEvent({ type: "snapshotWritten", view: "vectors", sequence });
      reached = Math.min(reached, sequence);
    }
    return reached;
  }
}
