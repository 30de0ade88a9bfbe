import { DocumentSet } from "../document-set.js";
import type { Container } from "../records/container.js";
import type { CachedPosting, PostingChange } from "./cached-posting.js";
import { chunkOfEntry, documentsOfEntry, entryBytes, type TermEntry, withChunk } from "./term-entry.js";
import { TermOrder } from "./term-order.js";

/** Of a term in a map: its place, the string's head. Measured on 100,000 words of 8 characters. */
const TERM_BYTES = 64;

/** The postings of one kind of a property in memory. */
export class CachedTerm implements CachedPosting {
  readonly #terms = new Map<string, TermEntry>();
  #bytes = 1000;
  #order: TermOrder | undefined;

  get bytes(): number {
    return this.#bytes + (this.#order?.bytes ?? 0);
  }

  /** How many terms there are. */
  get size(): number {
    return this.#terms.size;
  }

  get(term: string): TermEntry | undefined {
    return this.#terms.get(term);
  }

  /** Not to be changed. The walk may go on after a commit. */
  entries(): IterableIterator<[string, TermEntry]> {
    return this.#terms.entries();
  }

  documents(term: string, documentLimit: number): DocumentSet {
    const entry = this.#terms.get(term);
    return entry === undefined ? new DocumentSet() : documentsOfEntry(entry, documentLimit);
  }

  /** Terms in the order of their UTF-8 bytes; made when it is first asked for, kept from then on. */
  get order(): TermOrder {
    this.#order ??= new TermOrder(() => this.#terms.keys());
    return this.#order;
  }

  /** Terms come in their order, as they stand in the store. */
  loaded(terms: string[]): void {
    this.#order = new TermOrder(() => this.#terms.keys(), terms);
  }

  chunk(term: string, chunk: number): Container | undefined {
    return chunkOfEntry(this.#terms.get(term), chunk);
  }

  set(change: PostingChange): void {
    const { term, chunk, container } = change;
    const before = this.#terms.get(term);
    if (before === undefined && typeof container === "number") {
      this.#insert(term, (chunk << 12) + container);
      return;
    }
    this.#bytes -= entryBytes(before);
    const after = withChunk(before, chunk, container);
    this.#bytes += entryBytes(after);
    if (after === undefined) {
      if (before !== undefined) this.#bytes -= TERM_BYTES + term.length;
      this.#terms.delete(term);
    } else if (before === undefined) this.#insert(term, after);
    else if (before !== after) this.#terms.set(term, after);
  }

  #insert(term: string, entry: TermEntry): void {
    this.#bytes += TERM_BYTES + term.length;
    this.#terms.set(term, entry);
    this.#order?.added(term);
  }
}
