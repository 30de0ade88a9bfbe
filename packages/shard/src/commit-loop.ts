import type { IndexedChange, PlannedChanges } from "@shoal/inverted-index";
import type { KeyValueChange, KeyValueStore } from "@shoal/kv";
import { objectIdFromBytes, ShoalError } from "@shoal/model";
import type { CopyState } from "@shoal/replication";
import { catchUp } from "./catch-up.js";
import { type Commit, CommitDraft } from "./commit-draft.js";
import { CommitGathering } from "./commit-gathering.js";
import { encodeFormatRecord } from "./format-record.js";
import { FORMAT_KEY } from "./key-layout.js";
import type { MemoryAdmission } from "./memory-admission.js";
import type { ObjectIndex } from "./object-index.js";
import type { OwnCopy } from "./own-copy.js";
import type { PendingWrite } from "./pending-write.js";
import { type BaseRowSource, readBaseRows } from "./read-base-rows.js";
import type { RowView } from "./row.js";
import type { OnShardEvent } from "./shard-events.js";
import type { ShardLimits } from "./shard-limits.js";
import type { VectorIndexSource } from "./vector-indexes.js";
import type { Views } from "./views.js";

export interface CommitLoopOptions {
  readonly className: string;
  readonly shardName: string;
  readonly store: KeyValueStore;
  readonly views: Views;
  readonly index: ObjectIndex;
  readonly memory: MemoryAdmission;
  readonly source: VectorIndexSource;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly epoch: number;
  /** Undefined: the shard has one copy. */
  readonly copy: OwnCopy | undefined;
  readonly limits: ShardLimits;
  readonly onEvent: OnShardEvent;
  /** The row of a document without its vector, when it is at hand. */
  readonly cachedRow: (document: number) => RowView | undefined;
  /** After each commit, with the documents whose rows have changed and, where they are at hand, the rows. */
  readonly onCommitted: (documents: readonly number[], row: (at: number) => RowView | undefined) => void;
}

/** The one writer of a shard: a bounded queue, and one commit at a time for all that waits. */
export class CommitLoop {
  readonly #options: CommitLoopOptions;
  /** What commits are drafted on. */
  readonly baseRows: BaseRowSource;
  #queue: PendingWrite[] = [];
  #pendingObjects = 0;
  #pendingBytes = 0;
  #running: Promise<void> | undefined;
  readonly #closing = new AbortController();
  readonly #gathering: CommitGathering;
  #dimensions: number | undefined;
  #storedDimensions: number | undefined;
  /** The last write to the store failed; it may have reached the disk all the same. */
  #storeError: ShoalError | undefined;
  /** The store has a commit of which nobody knows what becomes, and the views do not have it yet. */
  #isBehind = false;
  /** The next writes that are committed each by itself. */
  #single = 0;
  /** The views do not follow the journal any more. */
  #broken: ShoalError | undefined;

  /** `dimensions`: of the class. `stored`: what the format record says, undefined while the shard has had no vector. */
  constructor(options: CommitLoopOptions, dimensions: number | undefined, stored: number | undefined) {
    this.#options = options;
    const { store, views, cachedRow, clock } = options;
    this.#gathering = new CommitGathering(clock);
    this.baseRows = { store, table: views.table, cachedRow, place: this.#place };
    this.#dimensions = dimensions;
    this.#storedDimensions = stored;
  }

  get dimensions(): number | undefined {
    return this.#dimensions;
  }
  get pendingObjects(): number {
    return this.#pendingObjects;
  }
  get storeError(): ShoalError | undefined {
    return this.#storeError;
  }
  get broken(): ShoalError | undefined {
    return this.#broken;
  }
  /** The views lack what a commit has written that was given up. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Fails at once with `overloaded` when the queue is full and with `unavailable` when no more writes are taken. */
  push(write: PendingWrite): void {
    this.#checkOpen();
    const { limits } = this.#options;
    const objects = this.#pendingObjects + write.objects;
    const bytes = this.#pendingBytes + write.bytes;
    if (this.#pendingObjects > 0 && (objects > limits.pendingObjectsMax || bytes > limits.pendingBytesMax)) {
      throw new ShoalError(
        "overloaded",
        `${this.#place} has ${this.#pendingObjects} objects (${this.#pendingBytes} bytes) waiting to be written, ` +
          `at most ${limits.pendingObjectsMax} objects and ${limits.pendingBytesMax} bytes may wait`,
        { retryAfterSeconds: 1 },
      );
    }
    this.#pendingObjects = objects;
    this.#pendingBytes = bytes;
    this.#queue.push(write);
    this.#gathering.came(this.#queue.length);
    // Not at once: what else comes in this iteration of the event loop shares the commit.
    this.#running ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#run());
  }

  /** Builds the inverted index when that is due and possible; writes that come meanwhile wait. */
  async buildIndex(): Promise<void> {
    this.#running ??= Promise.resolve().then(() => this.#run());
    await this.#running;
  }

  /**
   * Runs `work`, which changes the views, while no commit is under way; writes that come meanwhile wait. When it fails, the shard has
   * failed. `closing`: the shard takes no more writes, and `work` is to end soon, by failing.
   */
  async runExclusively(work: (closing: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    await this.#runAlone(() =>
      work(signal).catch((error: unknown) => {
        throw this.#break(error);
      }),
    );
  }

  /** The same for what a copy writes: it fails by itself, and always after a failed write. */
  async runForCopy(work: (closing: AbortSignal) => Promise<void>): Promise<void> {
    await this.#runAlone(async () => {
      const error = this.#broken ?? this.#storeError;
      if (error !== undefined) throw error;
      if (this.#isBehind) await this.#catchUp();
      await work(this.#closing.signal);
    });
  }

  /** Commits what another copy has drafted; in `runForCopy`. Nothing becomes visible when it fails. */
  async replicate(commit: Commit, state: CopyState, copy: OwnCopy): Promise<void> {
    await this.#options.views.index?.settled().catch((error: unknown) => {
      throw this.#break(error);
    });
    const done = this.#replicate(commit, state, copy);
    this.#commit = done.catch(() => undefined);
    await done;
  }

  /** Writes what a copy says of itself, and what goes with it and concerns no view; in `runForCopy`. */
  async writeState(state: CopyState, copy: OwnCopy, batch: readonly KeyValueChange[] = []): Promise<void> {
    this.#checkEnd(state, this.#options.views.sequence);
    await copy.write(state, (record) => this.#writeToStore([...batch, record]));
  }

  /** Fails the writes that wait with `waiting`, and those of the commit that is being carried with `underWay`: it may still be made. */
  giveUp(waiting: ShoalError, underWay: ShoalError): void {
    for (const write of this.#queue.splice(0)) {
      this.#pendingObjects -= write.objects;
      this.#pendingBytes -= write.bytes;
      write.fail(waiting);
    }
    this.#single = 0;
    for (const write of this.#carried) write.fail(underWay);
  }

  /** Takes no more writes; resolves when the accepted ones are done. Those that could not begin yet fail on a shard with copies. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#wake?.();
    await this.#running;
  }

  /** Resolves when the commit that is under way, if any, is applied or has failed. */
  async commitUnderWay(): Promise<void> {
    await this.#commit;
  }

  #commit: Promise<void> | undefined;
  /** The writes of the commit that is being carried to other copies. */
  #carried: readonly PendingWrite[] = [];
  /** To be done before the next commit. They never fail. */
  readonly #works: (() => Promise<void>)[] = [];
  /** Ends waiting for leave to commit. */
  #wake: (() => void) | undefined;

  async #run(): Promise<void> {
    for (;;) {
      if (this.#mayBuildIndex) await this.#options.index.build(this.#closing.signal);
      const work = this.#works.shift();
      if (work !== undefined) {
        await work();
        continue;
      }
      if (this.#queue.length === 0) break;
      await this.#options.views.index?.settled().catch((error: unknown) => void this.#break(error));
      // Batches are company enough.
      const isSmall = this.#pendingObjects <= this.#queue.length && !this.#closing.signal.aborted && this.#single === 0;
      const gathered = isSmall ? this.#gathering.gather(this.#queue.length) : undefined;
      if (gathered !== undefined) await gathered;
      const begun = this.#begin();
      const epoch = begun instanceof Promise ? await begun : begun;
      if (epoch === undefined) continue;
      const group = this.#take();
      this.#gathering.begins();
      this.#commit = this.#commitGroup(group, epoch);
      await this.#commit;
      this.#gathering.ended(group.length, this.#queue.length);
    }
    this.#running = undefined;
  }

  async #runAlone(work: () => Promise<void>): Promise<void> {
    this.#checkOpen();
    const done = new Promise<void>((resolve, reject) => {
      this.#works.push(() => work().then(resolve, reject));
    });
    this.#wake?.();
    this.#running ??= Promise.resolve().then(() => this.#run());
    await done;
  }

  /** Epoch of the next commit, or why there can be none; undefined: something else is to be written first. */
  #begin(): number | ShoalError | undefined | Promise<number | ShoalError | undefined> {
    const { copy, epoch } = this.#options;
    if (copy === undefined) return epoch;
    if (this.#works.length > 0) return undefined;
    try {
      const begun = copy.carrier.begin();
      if (!(begun instanceof Promise)) return begun;
      const failed = begun.catch((thrown: unknown) => ShoalError.from(thrown));
      if (this.#closing.signal.aborted) return this.#closingError();
      const woken = new Promise<undefined>((resolve) => {
        this.#wake = () => resolve(undefined);
      });
      return Promise.race([failed, woken]);
    } catch (thrown) {
      return ShoalError.from(thrown);
    }
  }

  /** A store of which nobody knows what it has is written to by the next commit first. */
  get #mayBuildIndex(): boolean {
    const isKnown = this.#storeError === undefined && !this.#isBehind;
    const isPossible = this.#broken === undefined && isKnown && !this.#closing.signal.aborted;
    return isPossible && this.#options.index.isDue;
  }

  #take(): PendingWrite[] {
    if (this.#single > 0) {
      this.#single -= 1;
      return this.#queue.splice(0, 1);
    }
    const { commitObjectsMax, commitBytesMax } = this.#options.limits;
    let objects = 0;
    let bytes = 0;
    let count = 0;
    while (count < this.#queue.length && objects < commitObjectsMax && bytes < commitBytesMax) {
      objects += this.#queue[count]?.objects ?? 0;
      bytes += this.#queue[count]?.bytes ?? 0;
      count += 1;
    }
    return this.#queue.splice(0, count);
  }

  /** Never fails: every write of the group gets its outcome. */
  async #commitGroup(group: readonly PendingWrite[], epoch: number | ShoalError): Promise<void> {
    let isWritten = true;
    try {
      isWritten = await this.#write(group, epoch);
      if (isWritten) for (const write of group) write.succeed();
    } catch (error) {
      for (const write of group) write.fail(error);
    }
    if (!isWritten) {
      this.#queue.unshift(...group);
      this.#single = group.length;
      return;
    }
    this.#carried = [];
    for (const write of group) {
      this.#pendingObjects -= write.objects;
      this.#pendingBytes -= write.bytes;
    }
  }

  /** False: the index refuses one of several writes, and each has to be tried by itself. */
  async #write(group: readonly PendingWrite[], epoch: number | ShoalError): Promise<boolean> {
    const { className, views, clock, copy, source, limits, memory } = this.#options;
    if (this.#broken !== undefined) throw this.#broken;
    if (epoch instanceof ShoalError) throw epoch;
    if (this.#storeError !== undefined || this.#isBehind) await this.#catchUp();
    views.lead();
    const read = readBaseRows(this.baseRows, group);
    const draft = new CommitDraft({
      className,
      table: views.table,
      dimensions: this.#dimensions,
      objectBytesMax: limits.objectBytesMax,
      nowUnix: commitTime(clock),
      baseRows: read instanceof Promise ? await read : read,
    });
    for (const write of group) {
      const staged = write.stage(draft);
      if (staged !== undefined) await staged;
      if (draft.yielder.isDue) await draft.yielder.next();
    }
    const commit = draft.finish(views.sequence, epoch);
    if (commit === undefined) {
      // That nothing is to be written is a result, too: only the primary may give it.
      if (copy !== undefined) await copy.carrier.begin();
      return true;
    }
    let planned: PlannedChanges | undefined;
    let release = (): void => {};
    try {
      const mayRefuse = commit.changes?.some(grows) ?? false;
      planned = await this.#options.index.plan(commit.changes, (bytes) => {
        release = memory.hold(bytes, mayRefuse);
      });
      const index = await this.#indexFor(commit, source);
      const batch = commit.batch.concat(planned.batch, this.#formatOf(commit));
      if (copy === undefined) await this.#writeToStore(batch);
      else {
        this.#carried = group;
        await this.#carry(commit, batch, copy);
      }
      views.index ??= index;
    } catch (error) {
      release();
      planned?.failed();
      for (const document of commit.reserved) views.table.recycle(document);
      if (planned === undefined && group.length > 1) return false;
      // What could not be read now is taken over before the next write.
      if (this.#isBehind) await this.#catchUp().catch(() => undefined);
      throw error;
    }
    try {
      this.#apply(commit, planned);
    } finally {
      release();
    }
    return true;
  }

  async #carry(commit: Commit, batch: readonly KeyValueChange[], copy: OwnCopy): Promise<void> {
    const changes = commit.entries.map(({ rawId }, at) => ({
      document: objectIdFromBytes(rawId),
      row: commit.row(at)?.bytes,
    }));
    let writing = undefined as Promise<void> | undefined;
    const write = (state: CopyState): Promise<void> => {
      this.#checkEnd(state, commit.lastSequence);
      writing = copy.write(state, (record) => this.#writeToStore([...batch, record]));
      return writing;
    };
    try {
      await copy.carrier.carry(changes, write);
      if (writing === undefined) throw new ShoalError("internal", `${this.#place} was not asked to write a commit`);
      await writing;
    } catch (thrown) {
      if (writing === undefined) throw thrown;
      const error = ShoalError.from(thrown);
      this.#isBehind = await writing.then(
        () => true,
        () => false,
      );
      const reason = `nobody knows whether a write to ${this.#place} was carried out: ${error.message}`;
      throw new ShoalError("unavailable", reason, { cause: error });
    }
  }

  async #replicate(commit: Commit, state: CopyState, copy: OwnCopy): Promise<void> {
    const { views, source, index, memory } = this.#options;
    this.#checkEnd(state, commit.lastSequence);
    let release = (): void => {};
    let planned: PlannedChanges | undefined;
    try {
      // The others have it already.
      planned = await index.plan(commit.changes, (bytes) => {
        release = memory.hold(bytes, false);
      });
      const { batch } = planned;
      const vectors = await this.#indexFor(commit, source);
      await copy.write(state, (record) =>
        this.#writeToStore([...commit.batch, ...batch, ...this.#formatOf(commit), record]),
      );
      views.index = vectors ?? views.index;
    } catch (error) {
      planned?.failed();
      throw error;
    } finally {
      release();
    }
    views.table.follow();
    this.#apply(commit, planned);
  }

  /** The journal of a copy ends where its state says. */
  #checkEnd({ end }: CopyState, sequence: number): void {
    if (end.sequence === sequence) return;
    throw new ShoalError("internal", `${this.#place} ends at ${sequence}, its copy is to end at ${end.sequence}`);
  }

  /** Without the dimensions in its format record, the shard would be opened as one that has never had a vector. */
  #formatOf({ dimensions }: Commit): readonly KeyValueChange[] {
    if (dimensions === this.#storedDimensions) return [];
    const value = encodeFormatRecord(dimensions, this.#options.copy !== undefined);
    return [{ type: "put", key: FORMAT_KEY, value }];
  }

  async #indexFor(commit: Commit, source: VectorIndexSource) {
    if (commit.dimensions === undefined || source.skip) return undefined;
    const { index } = this.#options.views;
    // That of another copy may have been of other vectors.
    return index?.dimensions === commit.dimensions ? index : await source.create(commit.dimensions);
  }

  async #writeToStore(batch: readonly KeyValueChange[]): Promise<void> {
    const { store, onEvent } = this.#options;
    try {
      await store.write(batch, { sync: true });
    } catch (thrown) {
      const error = ShoalError.from(thrown);
      // A store that refuses for now has not failed.
      if (error.code === "overloaded") throw error;
      if (this.#storeError === undefined) onEvent({ type: "writesFailed", error });
      this.#storeError = error;
      throw error;
    }
    if (this.#storeError !== undefined) onEvent({ type: "writesResumed" });
    this.#storeError = undefined;
  }

  #apply(commit: Commit, planned: PlannedChanges): void {
    const { views, onCommitted } = this.#options;
    this.#dimensions = commit.dimensions;
    this.#storedDimensions = commit.dimensions;
    try {
      views.apply(commit);
      planned.applied();
    } catch (error) {
      this.#break(error);
      throw this.#broken;
    } finally {
      onCommitted(
        commit.entries.map((entry) => entry.document),
        commit.row,
      );
    }
  }

  /** A write that the store reported as failed may be there: the views take it over before anything is built on them. */
  async #catchUp(): Promise<void> {
    const { store, views, index, source, onEvent, onCommitted } = this.#options;
    index.renew();
    const caughtUp = await catchUp({ store, views, source, onEvent, place: this.#place });
    this.#dimensions ??= caughtUp.dimensions;
    this.#storedDimensions ??= caughtUp.dimensions;
    this.#isBehind = false;
    onCommitted(caughtUp.documents, () => undefined);
  }

  #break(thrown: unknown): ShoalError {
    if (this.#closing.signal.aborted && thrown === this.#closing.signal.reason) {
      this.#broken = this.#closingError();
      return this.#broken;
    }
    const cause = ShoalError.from(thrown);
    this.#broken = new ShoalError("unavailable", `${this.#place} has failed: ${cause.message}`, { cause });
    this.#options.onEvent({ type: "writesFailed", error: this.#broken });
    return this.#broken;
  }

  #checkOpen(): void {
    if (this.#closing.signal.aborted) throw this.#closingError();
    if (this.#broken !== undefined) throw this.#broken;
  }

  #closingError(): ShoalError {
    return new ShoalError("unavailable", `${this.#place} is closing`);
  }

  get #place(): string {
    return `shard '${this.#options.shardName}' of class '${this.#options.className}'`;
  }
}

/** Whole milliseconds since 1970, at least 1: a creation time of 0 says that the row was lost. */
function commitTime(clock: () => number): number {
  return Math.max(1, Math.floor(clock()));
}

/** Whether an object is new, or has more properties than before. */
function grows({ before, after }: IndexedChange): boolean {
  return after !== undefined && after.propertiesJson.length > (before?.propertiesJson.length ?? 0);
}
