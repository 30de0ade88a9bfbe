import type { CopyEffect, CopyEvent, CopyName, JournalPosition } from "@shoal/replication";
import type { NodeMessage, ShardKey } from "@shoal/rpc";
import type { CopyStore, RowCursor } from "@shoal/shard";
import type { CopyTransfer, CopyTransfers } from "./copy-transfers.js";
import { bytesOf } from "./full-copy.js";

/** Rows of a catch-up that one message brings. Where they are written they take several times as much for a moment. */
const ROWS_BYTES_MAX = 1024 * 1024;

/** What one message brings of a graph; there is one under way. */
const PIECE_BYTES_MAX = 1024 * 1024;
/** A piece is sent again after so long without a response, so often; then the copy gets its rows without the graph. */
const PIECE_RESEND_MS = 1_000;
const PIECE_SENDS_MAX = 5;

export type GraphMessage = Extract<NodeMessage, { readonly type: "graph" | "graphTaken" }>;

export interface SentRowsOptions {
  readonly key: ShardKey;
  readonly transfers: CopyTransfers;
  /** To the copy that it names; it may be lost. */
  readonly send: (message: GraphMessage) => void;
  readonly end: () => JournalPosition;
  readonly handle: (event: CopyEvent) => void;
  /** A graph could not be read or sent; its rows come without it. */
  readonly graphFailed: (thrown: unknown) => void;
}

interface Session {
  readonly to: CopyName;
  readonly ending: AbortController;
  transfer: CopyTransfer | undefined;
  cursor: RowCursor | undefined;
  /** Where the journal ended when the rows were listed. */
  end: JournalPosition | undefined;
}

/** What a primary sends to copies that catch up: rows, and its graph before all rows. */
export class SentRows {
  readonly #options: SentRowsOptions;
  readonly #sessions = new Map<string, Session>();
  /** The piece that is under way in a session, and who waits for the response: whether the next one is wanted. */
  readonly #awaited = new Map<string, { readonly number: number; readonly responded: (isWanted: boolean) => void }>();

  constructor(options: SentRowsOptions) {
    this.#options = options;
  }

  /** Fails when rows cannot be read; the session is over then. */
  async open(store: CopyStore, effect: Extract<CopyEffect, { type: "openRows" }>): Promise<void> {
    const { session, to, isFull, isWhole, ...selection } = effect;
    // A learner catches up in one session at a time: that before is over.
    for (const [earlier, { to: learner }] of this.#sessions) if (learner === to) this.#close(earlier);
    const opened: Session = {
      ...{ to, ending: new AbortController(), transfer: undefined, cursor: undefined, end: undefined },
    };
    this.#sessions.set(session, opened);
    await this.#orFailed(session, async () => {
      const { signal } = opened.ending;
      // Without the copies that get everything at once nothing can be acknowledged: they do not wait.
      if (!isWhole) {
        const transfer = await this.#options.transfers.begin(signal);
        if (signal.aborted) transfer.end();
        else opened.transfer = transfer;
        if (isFull) {
          await this.#sendGraph(store, session, opened).catch((thrown: unknown) => {
            if (!signal.aborted) this.#options.graphFailed(thrown);
          });
        }
      }
      if (signal.aborted) return;
      opened.end = this.#options.end();
      opened.cursor = await store.openRows({ ...selection, isFull });
      if (signal.aborted) opened.cursor.close();
      else await this.#next(session, opened, isWhole ? Number.POSITIVE_INFINITY : ROWS_BYTES_MAX);
    });
  }

  async next(session: string): Promise<void> {
    const opened = this.#sessions.get(session);
    if (opened === undefined) return;
    await this.#orFailed(session, () => this.#next(session, opened, ROWS_BYTES_MAX));
  }

  /** A copy has answered for a piece. */
  taken({ session, number, isWanted }: Extract<GraphMessage, { type: "graphTaken" }>): void {
    const awaited = this.#awaited.get(session);
    if (awaited?.number === number) awaited.responded(isWanted);
  }

  closeAll(): void {
    for (const session of [...this.#sessions.keys()]) this.#close(session);
  }

  async #next(session: string, { cursor, end, transfer, ending }: Session, bytesMax: number): Promise<void> {
    if (cursor === undefined || end === undefined) return;
    transfer?.use();
    const { rows, isLast, sequence } = await cursor.next(bytesMax);
    await this.#options.transfers.pay(bytesOf(rows), "rows", ending.signal);
    transfer?.use();
    if (isLast) this.#close(session);
    this.#options.handle({ type: "rows", session, rows, isLast, end, through: sequence });
  }

  /** Whatever becomes of it, the rows come after it. */
  async #sendGraph(store: CopyStore, session: string, { to, ending: { signal }, transfer }: Session): Promise<void> {
    const graph = await store.openGraph();
    if (graph === undefined) return;
    try {
      let piece = await graph.next(PIECE_BYTES_MAX);
      for (let number = 0; piece !== undefined && !signal.aborted; number++) {
        const next = await graph.next(PIECE_BYTES_MAX);
        await this.#options.transfers.pay(piece.length, "graph", signal);
        transfer?.use();
        const { key: shard } = this.#options;
        const message = { type: "graph", shard, from: store.name, to, session, number, piece } as const;
        if (!(await this.#isTaken({ ...message, isLast: next === undefined }))) return;
        piece = next;
      }
    } finally {
      await graph.close();
    }
  }

  /** False: it was not answered for, or no more are wanted. */
  #isTaken(message: Extract<GraphMessage, { type: "graph" }>): Promise<boolean> {
    const { session, number } = message;
    return new Promise((resolve) => {
      const responded = (isWanted: boolean) => {
        clearInterval(timer);
        this.#awaited.delete(session);
        resolve(isWanted);
      };
      let sends = 0;
      const send = () => {
        if (sends++ === PIECE_SENDS_MAX) responded(false);
        else this.#options.send(message);
      };
      const timer = setInterval(send, PIECE_RESEND_MS);
      this.#awaited.set(session, { number, responded });
      send();
    });
  }

  async #orFailed(session: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      const isOver = this.#sessions.get(session)?.ending.signal.aborted !== false;
      this.#close(session);
      if (isOver) return;
      this.#options.handle({ type: "rowsFailed", session });
      throw thrown;
    }
  }

  #close(session: string): void {
    const opened = this.#sessions.get(session);
    this.#sessions.delete(session);
    opened?.ending.abort();
    opened?.transfer?.end();
    opened?.cursor?.close();
    this.#awaited.get(session)?.responded(false);
  }
}
