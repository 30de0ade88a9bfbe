import { IdOrder, type OrderedWords, sortedById } from "./id-order.js";
import { sortInSteps } from "./sort-in-steps.js";

/** Where the order gets the documents from. */
export interface OrderedTable extends OrderedWords {
  has(document: number): boolean;
}

/** The documents of a table by raw uuid, once somebody has asked for that: made at once or in steps, then kept up to date. */
export class TableOrder {
  readonly #table: OrderedTable;
  /** All that are there. */
  readonly #documents: () => Uint32Array;
  #order: IdOrder | undefined;
  #making: Promise<void> | undefined;
  /** What came while the order is being made. */
  #inserted: number[] | undefined;

  constructor(table: OrderedTable, documents: () => Uint32Array) {
    this.#table = table;
    this.#documents = documents;
  }

  inserted(document: number): void {
    this.#inserted?.push(document);
    this.#order?.insert(document);
  }

  /** The document's words must still be in place. */
  removed(document: number): void {
    this.#order?.remove(document);
  }

  /** Documents with a uuid above the one of these words (all of them without), ascending. Made at once when it has to be. */
  after(words?: readonly [number, number, number, number]): Iterable<number> {
    if (this.#order === undefined) {
      const documents = this.#documents();
      this.#order = new IdOrder(this.#table, sortedById(this.#table, documents, documents.length));
    }
    return this.#order.after(words);
  }

  /**
   * Resolves when the order is there, undefined: it is; `next` yields, and does not fail. No document may
   * be given to another object before: the ones that go meanwhile must keep their words.
   */
  make(next: () => Promise<void>): Promise<void> | undefined {
    if (this.#order !== undefined) return undefined;
    this.#making ??= this.#make(next).finally(() => {
      this.#making = undefined;
      this.#inserted = undefined;
    });
    return this.#making;
  }

  async #make(next: () => Promise<void>): Promise<void> {
    const inserted: number[] = [];
    this.#inserted = inserted;
    const sorted = await sortInSteps(this.#table, this.#documents(), next);
    // Somebody may have asked for it at once.
    if (this.#order !== undefined) return;
    const order = new IdOrder(
      this.#table,
      sorted.filter((document) => this.#table.has(document)),
    );
    for (const document of inserted) if (this.#table.has(document)) order.insert(document);
    this.#order = order;
  }

  memoryBytes(): number {
    return this.#order?.memoryBytes() ?? 0;
  }
}
