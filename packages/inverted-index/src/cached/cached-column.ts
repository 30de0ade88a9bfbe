import { DocumentSet } from "../document-set.js";
import type { ColumnValue } from "../records/column-chunk.js";
import { BLOCK_DOCUMENTS, BLOCK_SHIFT, lowerPlace, type SortedValues, sortValues, upperPlace } from "./column-block.js";
import type { ColumnChange, ColumnLike } from "./column-like.js";
import { closedEnds, type Interval, isWithin } from "./interval.js";

/** A block is sorted when it is asked for so often without a change. */
const SCANS_BEFORE_SORT = 2;
/** Documents that may have changed since a block was sorted; beyond that it has to be sorted again. */
const STALE_MAX = 64;
/** Steps (work.ts) of looking at one document of a block, of sorting one of its values, of finding the ends of a range. */
const SCAN_STEPS = 6;
const SORT_STEPS = 120;
const SEARCH_STEPS = 50;
const OFFSET_MASK = BLOCK_DOCUMENTS - 1;

interface Block {
  sorted: SortedValues | undefined;
  /** Offsets of documents that have changed since it was sorted; may hold one twice. */
  stale: number[];
  scans: number;
}

/** The numbers of a property in memory, by document. */
export class CachedColumn implements ColumnLike {
  /** Documents with at least one value. */
  readonly present = new DocumentSet();
  /** Of documents with one value, or the first of several. */
  #first = new Float64Array(0);
  /** Of dates that are no whole milliseconds. */
  readonly #rests = new Map<number, readonly number[]>();
  readonly #several = new Map<number, readonly number[]>();
  readonly #blocks: (Block | undefined)[] = [];
  readonly #versions: number[] = [];
  #severalValues = 0;
  #sortedBytes = 0;
  #count = 0;

  get bytes(): number {
    const lists = this.#several.size * 100 + this.#severalValues * 8 + this.#rests.size * 100;
    return 1000 + this.#first.byteLength + this.present.words.byteLength + lists + this.#sortedBytes;
  }

  /** Documents with a value. */
  get size(): number {
    return this.#count;
  }

  get hasSeveral(): boolean {
    return this.#several.size > 0;
  }

  /** Documents below it may have values. */
  get documentLimit(): number {
    return this.#first.length;
  }

  /** The value of a document that is present, the first of several. */
  first(document: number): number {
    return this.#first[document] ?? 0;
  }

  /** All values of a document that has several, in their order; undefined for any other. */
  several(document: number): readonly number[] | undefined {
    return this.#several.get(document);
  }

  /** Nanoseconds within the millisecond, one for each value; undefined when all are 0. */
  rests(document: number): readonly number[] | undefined {
    return this.#rests.get(document);
  }

  valueOf(document: number): ColumnValue | undefined {
    if (!this.present.has(document)) return undefined;
    const values = this.#several.get(document);
    const rests = this.#rests.get(document);
    if (values === undefined && rests === undefined) return this.first(document);
    return { values: values ?? [this.first(document)], rests };
  }

  set({ document, value }: ColumnChange): void {
    if (document >= this.#first.length) this.#enlarge(document);
    this.#outdate(document);
    this.#versions[document >>> BLOCK_SHIFT] = 1 + this.blockVersion(document >>> BLOCK_SHIFT);
    const before = this.#several.get(document);
    if (before !== undefined) {
      this.#severalValues -= before.length;
      this.#several.delete(document);
    }
    if (this.#rests.size > 0) this.#rests.delete(document);
    if (this.present.has(document)) this.#count -= 1;
    if (value === undefined) {
      this.present.delete(document);
      return;
    }
    this.#count += 1;
    this.present.add(document);
    if (typeof value === "number") {
      this.#first[document] = value;
      return;
    }
    this.#first[document] = value.values[0] ?? 0;
    if (value.rests !== undefined) this.#rests.set(document, value.rests);
    if (value.values.length > 1) {
      this.#several.set(document, value.values);
      this.#severalValues += value.values.length;
    }
  }

  /** Another number whenever a value of the block has changed. */
  blockVersion(block: number): number {
    return this.#versions[block] ?? 0;
  }

  get blockCount(): number {
    return Math.ceil(this.#first.length / BLOCK_DOCUMENTS);
  }

  /** Whether any value of a present document lies in the interval. */
  matches(document: number, interval: Interval): boolean {
    const values = this.#several.get(document);
    const rests = this.#rests.size === 0 ? undefined : this.#rests.get(document);
    if (values === undefined) return isWithin(interval, this.first(document), rests?.[0] ?? 0);
    return values.some((value, at) => isWithin(interval, value, rests?.[at] ?? 0));
  }

  /**
   * Adds those of the documents with a value in the interval, between two words of the sets: a word is 32 documents. The
   * set has nothing of them before.
   */
  selectOf(documents: DocumentSet, start: number, end: number, interval: Interval, set: DocumentSet): void {
    const values = this.#first;
    const asked = documents.words;
    const present = this.present.words;
    const selected = set.words;
    const stop = Math.min(end, asked.length, present.length, selected.length);
    if (this.#several.size > 0 || this.#rests.size > 0) {
      for (let at = start; at < stop; at++) {
        let bits = 0;
        for (let rest = (asked[at] ?? 0) & (present[at] ?? 0); rest !== 0; rest &= rest - 1) {
          const bit = rest & -rest;
          if (this.matches(at * 32 + 31 - Math.clz32(bit), interval)) bits |= bit;
        }
        selected[at] = bits;
      }
      return;
    }
    // Whether a value is in is as good as chance, so the processor would guess a branch wrongly: 4 ns a document for 14.
    const { least, most } = closedEnds(interval);
    for (let at = start; at < stop; at++) {
      let bits = 0;
      for (let rest = (asked[at] ?? 0) & (present[at] ?? 0); rest !== 0; rest &= rest - 1) {
        const bit = rest & -rest;
        const value = values[at * 32 + 31 - Math.clz32(bit)] ?? 0;
        bits |= bit & -(Number(value >= least) & Number(value <= most));
      }
      selected[at] = bits;
    }
  }

  /** Adds the documents of a block with a value in the interval to a set without any of it; tells the steps it took. */
  selectBlock(block: number, interval: Interval, set: DocumentSet): number {
    const before = this.#blocks[block]?.sorted;
    const sorted = this.#sortedBlock(block);
    const isNew = sorted !== before;
    const first = block << BLOCK_SHIFT;
    if (sorted === undefined) {
      this.#scanBlock(first, interval, set);
      return BLOCK_DOCUMENTS * SCAN_STEPS;
    }
    const { values, offsets } = sorted;
    const from = lowerPlace(values, interval.low);
    const upTo = upperPlace(values, interval.high);
    // Values at the ends are looked at one by one; what is between them is in.
    const inner = Math.min(upperPlace(values, interval.low), upTo);
    const outer = Math.max(lowerPlace(values, interval.high), inner);
    addOffsets(offsets, inner, outer, first, set.words);
    if (this.#rests.size > 0) {
      for (let at = from; at < inner; at++) this.#addIfWithin(first + (offsets[at] ?? 0), interval, set);
      for (let at = outer; at < upTo; at++) this.#addIfWithin(first + (offsets[at] ?? 0), interval, set);
    } else {
      if (isWithin(interval, interval.low, 0))
        for (let at = from; at < inner; at++) set.add(first + (offsets[at] ?? 0));
      if (isWithin(interval, interval.high, 0))
        for (let at = outer; at < upTo; at++) set.add(first + (offsets[at] ?? 0));
    }
    const stale = this.#blocks[block]?.stale ?? [];
    for (const offset of stale) {
      set.delete(first + offset);
      if (this.present.has(first + offset)) this.#addIfWithin(first + offset, interval, set);
    }
    return (isNew ? values.length * SORT_STEPS : SEARCH_STEPS) + upTo - from;
  }

  /** At least how many documents of a block {@link selectBlock} looks at, without doing it. */
  countBlock(block: number, interval: Interval): number {
    const sorted = this.#blocks[block]?.sorted;
    if (sorted === undefined) return BLOCK_DOCUMENTS;
    return upperPlace(sorted.values, interval.high) - lowerPlace(sorted.values, interval.low);
  }

  #addIfWithin(document: number, interval: Interval, set: DocumentSet): void {
    if (this.matches(document, interval)) set.add(document);
  }

  #scanBlock(first: number, interval: Interval, set: DocumentSet): void {
    this.selectOf(this.present, first >>> 5, (first + BLOCK_DOCUMENTS) >>> 5, interval, set);
  }

  #sortedBlock(index: number): SortedValues | undefined {
    const block = this.#blocks[index] ?? { sorted: undefined, stale: [], scans: 0 };
    this.#blocks[index] = block;
    if (block.sorted !== undefined && block.stale.length <= STALE_MAX) return block.sorted;
    this.#forget(block);
    block.scans += 1;
    if (block.scans <= SCANS_BEFORE_SORT) return undefined;
    block.sorted = this.#sort(index);
    block.scans = 0;
    this.#sortedBytes += block.sorted.values.length * 10 + 200;
    return block.sorted;
  }

  #sort(block: number): SortedValues {
    const values: number[] = [];
    const offsets: number[] = [];
    this.eachOfBlock(block, (document, value) => {
      values.push(value);
      offsets.push(document & OFFSET_MASK);
    });
    return sortValues(Float64Array.from(values), Uint16Array.from(offsets));
  }

  /** Visits all values of a block, by document. */
  eachOfBlock(block: number, visit: (document: number, value: number) => void): void {
    const first = block << BLOCK_SHIFT;
    const end = Math.min(first + BLOCK_DOCUMENTS, this.#first.length);
    const any = this.#several.size > 0;
    for (let document = first; document < end; document++) {
      if (!this.present.has(document)) continue;
      const several = any ? this.#several.get(document) : undefined;
      if (several === undefined) visit(document, this.first(document));
      else for (const value of several) visit(document, value);
    }
  }

  #outdate(document: number): void {
    const block = this.#blocks[document >>> BLOCK_SHIFT];
    if (block === undefined) return;
    if (block.sorted === undefined) block.scans = 0;
    else if (block.stale.length <= STALE_MAX) block.stale.push(document & OFFSET_MASK);
    else this.#forget(block);
  }

  #forget(block: Block): void {
    if (block.sorted === undefined) return;
    this.#sortedBytes -= block.sorted.values.length * 10 + 200;
    block.sorted = undefined;
    block.stale = [];
    block.scans = 0;
  }

  #enlarge(document: number): void {
    const grown = new Float64Array(Math.max(document + 1, Math.ceil(this.#first.length * 1.5), 256));
    grown.set(this.#first);
    this.#first = grown;
    this.present.reserve(grown.length);
  }
}

/** Sets the bits of documents behind `first`; the words reach so far. */
function addOffsets(offsets: Uint16Array, start: number, end: number, first: number, words: Uint32Array): void {
  const base = first >>> 5;
  for (let at = start; at < end; at++) {
    const offset = offsets[at] ?? 0;
    const word = base + (offset >>> 5);
    words[word] = (words[word] ?? 0) | (1 << (offset & 31));
  }
}
