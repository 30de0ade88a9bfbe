import { firstPlace } from "@shoal/runtime";

/** Where the order looks up the words of a document's uuid: its raw bytes as four numbers of this machine. */
export interface OrderedWords {
  word(document: number, index: 0 | 1 | 2 | 3): number;
}

const BLOCK_DOCUMENTS_MAX = 512;

interface Block {
  /** Ascending by uuid; the first `length` count. */
  readonly documents: Uint32Array;
  length: number;
}

/**
 * Documents in the order of their raw uuid bytes: blocks of up to 512, so that a change moves at most one block's rest.
 * About 5 bytes a document.
 */
export class IdOrder {
  readonly #words: OrderedWords;
  #blocks: Block[] = [];

  /** `sorted`: the documents in their order. */
  constructor(words: OrderedWords, sorted: Uint32Array) {
    this.#words = words;
    // Three quarters full: room before the first splits.
    const step = (BLOCK_DOCUMENTS_MAX * 3) / 4;
    for (let from = 0; from < sorted.length; from += step) this.#blocks.push(block(sorted.subarray(from, from + step)));
  }

  insert(document: number): void {
    const at = this.#blockOf(document);
    const target = this.#blocks[at];
    if (target === undefined) {
      this.#blocks.push(block(Uint32Array.of(document)));
      return;
    }
    const place = this.#placeIn(target, document);
    target.documents.copyWithin(place + 1, place, target.length);
    target.documents[place] = document;
    target.length += 1;
    if (target.length === BLOCK_DOCUMENTS_MAX) this.#split(at, target);
  }

  /** The document's words must still be in place. */
  remove(document: number): void {
    const at = this.#blockOf(document);
    const target = this.#blocks[at];
    if (target === undefined) return;
    const place = this.#placeIn(target, document);
    if (target.documents[place] !== document) return;
    target.documents.copyWithin(place, place + 1, target.length);
    target.length -= 1;
    if (target.length === 0) this.#blocks.splice(at, 1);
  }

  /** Documents with a uuid above the one of these words (all of them without), ascending. */
  *after(words?: readonly [number, number, number, number]): Iterable<number> {
    let at = words === undefined ? 0 : this.#lastBlockUpTo((document) => this.#compareWith(document, words) <= 0);
    for (let first = true; at < this.#blocks.length; at++, first = false) {
      const { documents, length } = this.#blocks[at] ?? block(new Uint32Array(0));
      const above = (document: number) => words === undefined || this.#compareWith(document, words) > 0;
      for (let place = first ? firstPlace(length, (at) => above(documents[at] ?? 0)) : 0; place < length; place++) {
        yield documents[place] ?? 0;
      }
    }
  }

  memoryBytes(): number {
    return this.#blocks.length * BLOCK_DOCUMENTS_MAX * 4;
  }

  #split(at: number, full: Block): void {
    const half = full.length / 2;
    this.#blocks.splice(at + 1, 0, block(full.documents.subarray(half, full.length)));
    full.length = half;
  }

  #placeIn({ documents, length }: Block, document: number): number {
    return firstPlace(length, (at) => this.#compare(documents[at] ?? 0, document) >= 0);
  }

  #blockOf(document: number): number {
    return this.#lastBlockUpTo((first) => this.#compare(first, document) <= 0);
  }

  /** The last block whose first document is `upTo`, or the first block. */
  #lastBlockUpTo(upTo: (document: number) => boolean): number {
    const behind = firstPlace(this.#blocks.length, (at) => !upTo(this.#blocks[at]?.documents[0] ?? 0));
    return Math.max(0, behind - 1);
  }

  #compare(a: number, b: number): number {
    return compareDocuments(this.#words, a, b);
  }

  #compareWith(document: number, words: readonly [number, number, number, number]): number {
    for (const index of WORD_INDEXES) {
      const difference = compareWords(this.#words.word(document, index), words[index]);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}

const WORD_INDEXES = [0, 1, 2, 3] as const;

/** By the raw bytes of their uuids. */
export function compareDocuments(words: OrderedWords, a: number, b: number): number {
  for (const index of WORD_INDEXES) {
    const difference = compareWords(words.word(a, index), words.word(b, index));
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Documents in the order of their uuids: by the first four bytes as numbers, then those that share them by all bytes. */
export function sortedById(words: OrderedWords, documents: Iterable<number>, count: number): Uint32Array {
  const keys = new BigUint64Array(count);
  const halves = new Uint32Array(keys.buffer);
  let filled = 0;
  for (const document of documents) {
    halves[filled++] = document;
    halves[filled++] = bigEndian(words.word(document, 0));
  }
  keys.sort();
  const sorted = Uint32Array.from({ length: count }, (_, at) => halves[at * 2] ?? 0);
  for (let from = 0; from < count; ) {
    let to = from + 1;
    while (to < count && halves[to * 2 + 1] === halves[from * 2 + 1]) to++;
    if (to - from > 1) sorted.subarray(from, to).sort((a, b) => compareDocuments(words, a, b));
    from = to;
  }
  return sorted;
}

function block(documents: Uint32Array): Block {
  const room = new Uint32Array(BLOCK_DOCUMENTS_MAX);
  room.set(documents);
  return { documents: room, length: documents.length };
}

function compareWords(a: number, b: number): number {
  return a === b ? 0 : bigEndian(a) < bigEndian(b) ? -1 : 1;
}

function bigEndian(word: number): number {
  return ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
}
