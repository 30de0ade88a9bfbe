import type { Change, CopyBatch, CopyState } from "../copy-messages.js";
import { START } from "../journal-position.js";

export interface StoredRow {
  readonly value: string;
  readonly epoch: number;
  readonly sequence: number;
}

interface Entry {
  readonly epoch: number;
  readonly sequence: number;
  readonly document: string;
}

/** So many commits may be missing at the end of a log. */
const UNDONE_MAX = 8;

/** What a copy has on disk: everything in it is durable. */
export class SimulatedDisk {
  readonly copy: string;
  isDamaged = false;
  /** It was not opened yet. */
  isNew = true;
  /** The end of its log is gone, and nobody has noticed. */
  hasLostEnd = false;
  state: CopyState;
  readonly rows = new Map<string, StoredRow>();
  #journal: Entry[] = [];
  readonly #touched = new Set<string>();
  /** By session: the documents whose rows have not been asked for yet. */
  readonly #cursors = new Map<string, string[]>();
  /** What takes the last batches back, the last one last. */
  #undo: (() => void)[] = [];

  constructor(copy: string, since: number) {
    this.copy = copy;
    this.state = { since, acceptedEpoch: 0, end: START, epochs: [], base: 0, through: 0 };
  }

  apply({ state, entries, rows }: CopyBatch): void {
    this.#noteUndo(entries?.changes ?? [], rows !== undefined);
    if (rows !== undefined) this.#applyRows(rows);
    if (entries !== undefined) {
      for (const [at, { document, row }] of entries.changes.entries()) {
        const sequence = entries.first + at;
        this.#journal.push({ epoch: entries.epoch, sequence, document });
        const newer = this.rows.get(document)?.sequence ?? 0;
        // While a copy catches up, some rows are ahead of its journal.
        if (newer > sequence) continue;
        if (row === undefined) this.rows.delete(document);
        else this.rows.set(document, { value: row as string, epoch: entries.epoch, sequence });
      }
    }
    this.state = state;
    this.#journal = this.#journal.filter(({ sequence }) => sequence > state.base);
    if (state.through <= state.end.sequence) this.#touched.clear();
  }

  /** The last batches are not there any more: the log says nothing of them. */
  loseEnd(batches: number): void {
    for (const undo of this.#undo.splice(-batches).reverse()) {
      undo();
      this.hasLostEnd = true;
    }
  }

  #noteUndo(changes: readonly Change[], hasRows: boolean): void {
    const { state } = this;
    const journal = [...this.#journal];
    const rows = changes.map(({ document }) => [document, this.rows.get(document)] as const);
    this.#undo = hasRows ? [] : this.#undo.slice(1 - UNDONE_MAX);
    if (hasRows) return;
    this.#undo.push(() => {
      this.state = state;
      this.#journal = journal;
      for (const [document, row] of rows) {
        if (row === undefined) this.rows.delete(document);
        else this.rows.set(document, row);
      }
    });
  }

  /** Documents of the journal after `after`, and those that a catch-up has touched. */
  changesAfter(after: number): readonly string[] {
    const changed = this.#journal.filter(({ sequence }) => sequence > after).map(({ document }) => document);
    return [...new Set([...changed, ...this.#touched])];
  }

  openRows(session: string, after: number, isFull: boolean, documents: readonly string[]): void {
    const all = isFull ? [...this.rows.keys(), ...documents] : [...this.changesAfter(after), ...documents];
    this.#cursors.set(session, [...new Set(all)].sort());
  }

  nextRows(session: string, count: number): { readonly rows: readonly Change[]; readonly isLast: boolean } {
    const left = this.#cursors.get(session) ?? [];
    const documents = left.splice(0, count);
    const rows = documents.map((document) => ({ document, row: this.rows.get(document) }));
    return { rows, isLast: left.length === 0 };
  }

  #applyRows({ rows, cutAfter, isFull }: NonNullable<CopyBatch["rows"]>): void {
    this.hasLostEnd = false;
    if (isFull) {
      this.rows.clear();
      this.#touched.clear();
      this.#journal = [];
    }
    for (const { sequence, document } of this.#journal) if (sequence > cutAfter) this.#touched.add(document);
    this.#journal = this.#journal.filter(({ sequence }) => sequence <= cutAfter);
    for (const { document, row } of rows) {
      this.#touched.add(document);
      if (row === undefined) this.rows.delete(document);
      else this.rows.set(document, row as StoredRow);
    }
  }
}
