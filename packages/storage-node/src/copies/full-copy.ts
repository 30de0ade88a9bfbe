import { type CopyBatch, type CopyName, type CopyState, INCOMPLETE } from "@shoal/replication";
import type { CopyStore } from "@shoal/shard";

/** What becomes of full copies that a copy gets. */
export type FullCopyEvent =
  /** All rows come, from that copy. `reason`: why not only what is missing. */
  | { readonly type: "fullCopyBegun"; readonly from: CopyName | undefined; readonly reason: string }
  | {
      readonly type: "fullCopyEnded";
      readonly from: CopyName | undefined;
      /** Whether all rows are there, and then whether their vectors came linked. */
      readonly outcome: FullCopyOutcome;
      readonly elapsedMs: number;
      readonly rows: number;
      /** Of rows and graph. */
      readonly bytes: number;
    };

export type FullCopyOutcome = "withGraph" | "linked" | "givenUp";

export interface FullCopyOptions {
  /** Milliseconds of the monotonic clock. */
  readonly now: () => number;
  readonly primary: () => CopyName | undefined;
  readonly onEvent: (event: FullCopyEvent) => void;
}

/** The full copy that a copy gets, from the first piece of a graph, or the first rows, until it has all rows. */
export class FullCopy {
  readonly #options: FullCopyOptions;
  #underWay: { readonly from: CopyName | undefined; readonly sinceMs: number; rows: number; bytes: number } | undefined;

  constructor(options: FullCopyOptions) {
    this.#options = options;
  }

  /** A piece of the graph has come, with which one begins. All bytes that have come. */
  graphCame({ state }: CopyStore, piece: Uint8Array): number {
    const underWay = this.#underWay ?? this.#begin(state);
    underWay.bytes += piece.length;
    return underWay.bytes;
  }

  /** Writes rows of a catch-up, also where they are not all rows. */
  async write(store: CopyStore, state: CopyState, batch: NonNullable<CopyBatch["rows"]>): Promise<void> {
    if (batch.isFull) {
      if ((this.#underWay?.rows ?? 0) > 0) this.giveUp();
      if (this.#underWay === undefined) this.#begin(store.state);
    }
    await store.writeRows(state, batch);
    const underWay = this.#underWay;
    if (underWay === undefined) return;
    underWay.rows += batch.rows.length;
    underWay.bytes += bytesOf(batch.rows);
    if (state.through !== INCOMPLETE) this.#end(store.hasCopiedGraph ? "withGraph" : "linked");
  }

  /** The one that is under way, if any, does not come to its end. */
  giveUp(): void {
    this.#end("givenUp");
  }

  #begin(state: CopyState) {
    const { now, primary, onEvent } = this.#options;
    const underWay = { from: primary(), sinceMs: now(), rows: 0, bytes: 0 };
    this.#underWay = underWay;
    onEvent({ type: "fullCopyBegun", from: underWay.from, reason: reasonOf(state) });
    return underWay;
  }

  #end(outcome: FullCopyOutcome): void {
    if (this.#underWay === undefined) return;
    const { sinceMs, ...counts } = this.#underWay;
    this.#underWay = undefined;
    const { now, onEvent } = this.#options;
    onEvent({ type: "fullCopyEnded", outcome, elapsedMs: Math.round(now() - sinceMs), ...counts });
  }
}

/** How many bytes the rows have. */
export function bytesOf(rows: NonNullable<CopyBatch["rows"]>["rows"]): number {
  return rows.reduce((sum, { row }) => sum + ((row as Buffer | undefined)?.length ?? 0), 0);
}

function reasonOf({ through, end }: CopyState): string {
  if (through === INCOMPLETE) return "the one before did not come to its end";
  if (end.sequence === 0) return "the copy has nothing yet";
  return "the journals do not reach back to the last change that both have";
}
