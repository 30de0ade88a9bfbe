import { ShoalError } from "@shoal/model";
import { Yielder } from "@shoal/runtime";
import { openSnapshotPieces, removeSnapshotFiles, type SnapshotReceiver, type VectorIndex } from "@shoal/vector-index";
import type { CommitLoop } from "./commit-loop.js";
import { DocumentBits } from "./document-bits.js";
import type { JournalEntry } from "./journal-record.js";
import type { ReloadedVectors } from "./reloaded-vectors.js";
import type { OnShardEvent } from "./shard-events.js";
import { receivedPath, type SnapshotPaths } from "./snapshot-files.js";
import type { Snapshots } from "./snapshots.js";
import type { VectorIndexSource } from "./vector-indexes.js";
import type { Views } from "./views.js";

/** The vector index of a copy as it is sent to another one. The first piece is of any size. */
export interface GraphPieces {
  /** Undefined: that were all. */
  next(bytesMax: number): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

export interface CopiedGraphOptions {
  readonly views: Views;
  readonly source: VectorIndexSource;
  readonly paths: SnapshotPaths;
  readonly snapshots: Snapshots;
  readonly commits: Pick<CommitLoop, "dimensions">;
  readonly vectors: Pick<ReloadedVectors, "reload">;
  readonly onEvent: OnShardEvent;
}

/** Before the manifest of the snapshot the first piece says below what all its documents are, as u32, little-endian. */
const LIMIT_BYTES = 4;
/** Documents that are looked at in one step: about a millisecond. */
const STEP = 65_536;

/**
 * The vector index of another copy, with which a full copy begins so that it need not link what that one has linked. It is a proposal only:
 * the rows decide. A row whose vector the index has already changes nothing, any other one is linked, and what no row has named goes
 * when all rows are there. So it does not matter of which moment the index is. When it cannot be used all rows are linked.
 */
export class CopiedGraph {
  readonly #options: CopiedGraphOptions;
  readonly #path: string;
  /** What is being put together. */
  #receiving:
    | { readonly receiver: SnapshotReceiver; readonly limit: number; pieces: number; isWhole: boolean }
    | undefined;
  /** What is done with the files: one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  /** The index in use, while rows are still missing. */
  #adopted: { readonly index: VectorIndex; readonly limit: number; readonly named: DocumentBits } | undefined;

  #isInUse = false;

  constructor(options: CopiedGraphOptions) {
    this.#options = options;
    this.#path = receivedPath(options.paths);
  }

  /** Whether the last full copy came to its end with a graph that was received. */
  get isInUse(): boolean {
    return this.#isInUse;
  }

  /** That of this copy, as fresh as it can be had; undefined when nothing is linked in it. */
  async open(): Promise<GraphPieces | undefined> {
    const { views, snapshots, paths } = this.#options;
    if (views.index === undefined) return undefined;
    // The last one serves, too.
    if (snapshots.changes > 0) await snapshots.write().catch(() => undefined);
    const pieces = await openSnapshotPieces(paths.vectors);
    if (pieces.linked === 0) {
      await pieces.close();
      return undefined;
    }
    const limit = Buffer.alloc(LIMIT_BYTES);
    limit.writeUInt32LE(views.table.documentLimit);
    let isFirst = true;
    return {
      async next(bytesMax) {
        const piece = await pieces.next(bytesMax);
        if (!isFirst || piece === undefined) return piece;
        isFirst = false;
        return Buffer.concat([limit, piece]);
      },
      close: () => pieces.close(),
    };
  }

  /** Piece `number`; 0 begins anew. False: no more are wanted, the rows are linked. */
  take(number: number, piece: Uint8Array, isLast: boolean): Promise<boolean> {
    return this.#inTurn(async () => {
      try {
        return await this.#take(number, piece, isLast);
      } catch (thrown) {
        await this.#leave(thrown);
        return false;
      }
    });
  }

  /** All rows will come: the index in use goes. Before the rows that are there do. */
  async begin(): Promise<void> {
    const { views, source } = this.#options;
    const { index } = views;
    const adopted = this.#adopted;
    this.#adopted = undefined;
    this.#isInUse = false;
    views.index = undefined;
    for (const one of new Set([index, adopted?.index])) if (one !== undefined) await source.discard(one);
  }

  /** Takes what has been received into use. The copy has no rows yet. */
  adopt(): Promise<void> {
    return this.#inTurn(async () => {
      const received = this.#receiving;
      this.#receiving = undefined;
      if (received === undefined) return;
      const { receiver, limit, isWhole } = received;
      try {
        await receiver.close();
        if (isWhole) await this.#load(receiver.dimensions, limit);
        await removeSnapshotFiles(this.#path);
      } catch (thrown) {
        await this.#leave(thrown);
      }
    });
  }

  /** What a commit has changed while rows are missing. */
  changed(entries: readonly JournalEntry[]): void {
    const named = this.#adopted?.named;
    if (named === undefined) return;
    for (const { kind, document, hasVector } of entries) {
      if (kind === "put" && hasVector) named.add(document);
      else named.remove(document);
    }
  }

  /** All rows are there: what none of them has named goes. Should anything else be left, all rows are linked. */
  async settle(closing: AbortSignal): Promise<void> {
    const adopted = this.#adopted;
    if (adopted === undefined) return;
    this.#adopted = undefined;
    const { views, source, vectors } = this.#options;
    const { index, limit, named } = adopted;
    if (views.index !== index) {
      await source.discard(index);
      return;
    }
    const yielder = new Yielder(STEP);
    for (let from = 0; from < limit; from += STEP) {
      const gone = named.missing(from, Math.min(limit, from + STEP));
      if (gone.length > 0) index.remove(gone, views.sequence);
      yielder.count(STEP);
      if (yielder.isDue) await yielder.next();
    }
    const { count } = index.statistics();
    this.#isInUse = count === named.count;
    if (this.#isInUse) return;
    this.#options.onEvent({ type: "copiedGraphUnfit", vectors: count, expected: named.count });
    await vectors.reload(closing);
  }

  /** Takes away what an earlier run of the process has received. */
  async clean(): Promise<void> {
    await removeSnapshotFiles(this.#path);
  }

  async #take(number: number, piece: Uint8Array, isLast: boolean): Promise<boolean> {
    const { source, commits } = this.#options;
    if (source.skip) return false;
    if (number === 0) {
      await this.#receiving?.receiver.close();
      this.#receiving = undefined;
      if (piece.length < LIMIT_BYTES) throw new ShoalError("dataLoss", "the first piece is cut short");
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const receiver = await source.receive(this.#path, commits.dimensions, bytes.subarray(LIMIT_BYTES));
      this.#receiving = { receiver, limit: bytes.readUInt32LE(0), pieces: 1, isWhole: false };
    } else {
      const receiving = this.#receiving;
      if (receiving?.pieces !== number) return false;
      await receiving.receiver.take(piece);
      receiving.pieces++;
    }
    if (isLast && this.#receiving !== undefined) {
      await this.#receiving.receiver.finish();
      this.#receiving.isWhole = true;
    }
    return true;
  }

  async #load(dimensions: number, limit: number): Promise<void> {
    const { views, source } = this.#options;
    const index = await source.load(this.#path, dimensions);
    const spare = views.index;
    views.index = index;
    views.endAt(views.sequence);
    this.#adopted = { index, limit, named: new DocumentBits() };
    if (spare !== undefined) await source.discard(spare);
  }

  async #leave(thrown: unknown): Promise<void> {
    this.#report(thrown);
    await this.#receiving?.receiver.close().catch(() => undefined);
    this.#receiving = undefined;
    await removeSnapshotFiles(this.#path).catch(() => undefined);
  }

  #report(thrown: unknown): void {
    const reason = ShoalError.from(thrown).message;
    this.#options.onEvent({ type: "damageFound", damage: { what: "snapshot", view: "vectors", reason } });
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
