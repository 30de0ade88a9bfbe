/** Link of a document that is not there. */
export const ABSENT = 0xffff_ffff;
/** Link at either end of the creation order. */
export const END = 0xffff_fffe;
/** Document ids are below this. */
export const DOCUMENTS_MAX = 0xffff_fffe;

const CHUNK_BITS = 16;
const CHUNK_DOCUMENTS = 1 << CHUNK_BITS;
const CHUNK_MASK = CHUNK_DOCUMENTS - 1;
const FIRST_CHUNK_DOCUMENTS = 1 << 8;

/** Bytes that one document takes in a chunk: uuid, creation time, two links. */
export const DOCUMENT_BYTES = 32;

interface Chunk {
  readonly capacity: number;
  /** Four words a document: its uuid's raw bytes. */
  readonly ids: Uint32Array;
  readonly creationTimes: Float64Array;
  /** The document created next after this one. */
  readonly newer: Uint32Array;
  /** The document created just before; ABSENT when there is no such document. */
  readonly older: Uint32Array;
}

/**
 * What a shard keeps in memory of each document, in typed arrays indexed by document id. They come in chunks of 65,536
 * documents, so growing never copies more than the first, small chunk.
 */
export class DocumentChunks {
  readonly #chunks: Chunk[] = [];

  /** Makes room for documents below `count`. */
  reserve(count: number): void {
    while (this.#chunks.length * CHUNK_DOCUMENTS < count || this.#lastCapacityIsShort(count)) this.#grow();
  }

  has(document: number): boolean {
    const chunk = this.#chunks[document >>> CHUNK_BITS];
    const slot = document & CHUNK_MASK;
    return chunk !== undefined && slot < chunk.capacity && chunk.older[slot] !== ABSENT;
  }

  /** Whether the uuid of `document` is the four words. */
  isId(document: number, word0: number, word1: number, word2: number, word3: number): boolean {
    const ids = this.#at(document).ids;
    const at = (document & CHUNK_MASK) * 4;
    return ids[at] === word0 && ids[at + 1] === word1 && ids[at + 2] === word2 && ids[at + 3] === word3;
  }

  word(document: number, index: 0 | 1 | 2 | 3): number {
    return this.#at(document).ids[(document & CHUNK_MASK) * 4 + index] ?? 0;
  }

  /** The 16 raw bytes of a document's uuid, as a view. */
  idBytes(document: number): Uint8Array {
    const ids = this.#at(document).ids;
    return new Uint8Array(ids.buffer, ids.byteOffset + (document & CHUNK_MASK) * 16, 16);
  }

  setId(document: number, words: Uint32Array): void {
    this.#at(document).ids.set(words, (document & CHUNK_MASK) * 4);
  }

  creationTime(document: number): number {
    return this.#at(document).creationTimes[document & CHUNK_MASK] ?? 0;
  }

  setCreationTime(document: number, time: number): void {
    this.#at(document).creationTimes[document & CHUNK_MASK] = time;
  }

  newer(document: number): number {
    return this.#at(document).newer[document & CHUNK_MASK] ?? END;
  }

  setNewer(document: number, link: number): void {
    this.#at(document).newer[document & CHUNK_MASK] = link;
  }

  older(document: number): number {
    return this.#at(document).older[document & CHUNK_MASK] ?? ABSENT;
  }

  setOlder(document: number, link: number): void {
    this.#at(document).older[document & CHUNK_MASK] = link;
  }

  memoryBytes(): number {
    return this.#chunks.reduce((sum, chunk) => sum + chunk.capacity * DOCUMENT_BYTES, 0);
  }

  /** Copies documents 0 to `count` to `target`: all uuids, then all creation times, newer links, older links. */
  copyTo(target: Uint8Array, count: number): void {
    this.#eachColumn(target, count, (stored, copy) => copy.set(stored));
  }

  /** Fills documents 0 to `count` with what `copyTo` wrote. */
  copyFrom(source: Uint8Array, count: number): void {
    this.reserve(count);
    this.#eachColumn(source, count, (stored, copy) => stored.set(copy));
  }

  #eachColumn(bytes: Uint8Array, count: number, copy: (stored: Uint8Array, copy: Uint8Array) => void): void {
    for (const [index, chunk] of this.#chunks.entries()) {
      const first = index * CHUNK_DOCUMENTS;
      const documents = Math.min(chunk.capacity, count - first);
      if (documents <= 0) return;
      let columnStart = 0;
      for (const column of [chunk.ids, chunk.creationTimes, chunk.newer, chunk.older]) {
        const width = column.byteLength / chunk.capacity;
        const stored = new Uint8Array(column.buffer, column.byteOffset, documents * width);
        const start = columnStart + first * width;
        copy(stored, bytes.subarray(start, start + documents * width));
        columnStart += count * width;
      }
    }
  }

  /**
   * Calls `visit` for documents 0 to `count`, many at a time: the first of them, four words for each uuid, and a link for each, which is
   * ABSENT where there is no such document.
   */
  eachRun(count: number, visit: (first: number, words: Uint32Array, links: Uint32Array) => void): void {
    for (const [index, { capacity, ids, older }] of this.#chunks.entries()) {
      const first = index * CHUNK_DOCUMENTS;
      const documents = Math.min(capacity, count - first);
      if (documents > 0) visit(first, ids.subarray(0, documents * 4), older.subarray(0, documents));
    }
  }

  #at(document: number): Chunk {
    const chunk = this.#chunks[document >>> CHUNK_BITS];
    if (chunk === undefined) throw new RangeError(`document ${document} has no place in the table`);
    return chunk;
  }

  #lastCapacityIsShort(count: number): boolean {
    const last = this.#chunks.at(-1);
    return last !== undefined && (this.#chunks.length - 1) * CHUNK_DOCUMENTS + last.capacity < count;
  }

  #grow(): void {
    const last = this.#chunks.at(-1);
    if (last === undefined) this.#chunks.push(emptyChunk(FIRST_CHUNK_DOCUMENTS));
    else if (last.capacity === CHUNK_DOCUMENTS) this.#chunks.push(emptyChunk(CHUNK_DOCUMENTS));
    else this.#chunks[this.#chunks.length - 1] = enlarged(last);
  }
}

function emptyChunk(capacity: number): Chunk {
  return {
    capacity,
    ids: new Uint32Array(capacity * 4),
    creationTimes: new Float64Array(capacity),
    newer: new Uint32Array(capacity),
    older: new Uint32Array(capacity).fill(ABSENT),
  };
}

function enlarged(chunk: Chunk): Chunk {
  const larger = emptyChunk(chunk.capacity * 2);
  larger.ids.set(chunk.ids);
  larger.creationTimes.set(chunk.creationTimes);
  larger.newer.set(chunk.newer);
  larger.older.set(chunk.older);
  return larger;
}
