import { DocumentSet } from "../document-set.js";
import { POSTING_CHUNK_DOCUMENTS, POSTING_CHUNK_SHIFT } from "../index-keys.js";
import {
  addToWords,
  BITMAP_WORDS,
  type Container,
  containerHas,
  containerSize,
  offsetsOf,
} from "../records/container.js";

/** Chunks of a term that many documents have, by number of the chunk. */
export interface TermChunks {
  readonly chunks: Map<number, Container>;
  count: number;
}

/** The documents of one term: one, some in ascending order, or whole chunks. */
export type TermEntry = number | number[] | TermChunks;

const OFFSET_MASK = POSTING_CHUNK_DOCUMENTS - 1;
/** A list becomes chunks when it has more documents than so many for each chunk. */
const LISTED_OF_CHUNK = 32;
const LISTED_MIN = 64;

export function entrySize(entry: TermEntry): number {
  if (typeof entry === "number") return 1;
  return Array.isArray(entry) ? entry.length : entry.count;
}

export function entryHas(entry: TermEntry, document: number): boolean {
  if (typeof entry === "number") return entry === document;
  if (Array.isArray(entry)) return entry[lowerBound(entry, document)] === document;
  const container = entry.chunks.get(document >>> POSTING_CHUNK_SHIFT);
  return container !== undefined && containerHas(container, document & OFFSET_MASK);
}

/** About what the entry takes beside its place in a map. */
export function entryBytes(entry: TermEntry | undefined): number {
  if (entry === undefined || typeof entry === "number") return 0;
  if (Array.isArray(entry)) return 48 + entry.length * 8;
  let bytes = 200;
  for (const container of entry.chunks.values()) {
    bytes += 40 + (typeof container === "number" ? 0 : 120 + container.byteLength);
  }
  return bytes;
}

export function addEntryTo(entry: TermEntry, set: DocumentSet): void {
  if (typeof entry === "number") set.add(entry);
  else if (Array.isArray(entry)) for (const document of entry) set.add(document);
  else for (const [chunk, container] of entry.chunks) addContainerTo(container, chunk, set);
}

/** The documents of an entry as a set of its own, with room for all below the limit. */
export function documentsOfEntry(entry: TermEntry, documentLimit: number): DocumentSet {
  // Whole chunks: the set does not have to grow.
  const set = new DocumentSet(Math.ceil(documentLimit / POSTING_CHUNK_DOCUMENTS) * POSTING_CHUNK_DOCUMENTS);
  if (typeof entry === "number" || Array.isArray(entry)) {
    addEntryTo(entry, set);
    return set;
  }
  for (const [chunk, container] of entry.chunks) {
    const start = chunk * BITMAP_WORDS;
    if (container instanceof Uint32Array && start + BITMAP_WORDS <= set.words.length) set.words.set(container, start);
    else addContainerTo(container, chunk, set);
  }
  return set;
}

export function addContainerTo(container: Container, chunk: number, set: DocumentSet): void {
  // The last chunk mostly reaches beyond the documents that there are; the bits behind them are not set.
  if (typeof container !== "number") set.reserve((chunk + 1) * POSTING_CHUNK_DOCUMENTS);
  else set.reserve(chunk * POSTING_CHUNK_DOCUMENTS + container + 1);
  addToWords(container, set.words, chunk * BITMAP_WORDS);
}

/** The entry after one of its chunks is set; undefined when no document is left. */
export function withChunk(
  entry: TermEntry | undefined,
  chunk: number,
  container: Container | undefined,
): TermEntry | undefined {
  const base = chunk << POSTING_CHUNK_SHIFT;
  if (entry === undefined && typeof container === "number") return base + container;
  if (entry !== undefined && typeof entry === "object" && !Array.isArray(entry))
    return setChunk(entry, chunk, container);
  const list = entry === undefined ? [] : typeof entry === "number" ? [entry] : entry;
  const start = lowerBound(list, base);
  const end = lowerBound(list, base + POSTING_CHUNK_DOCUMENTS);
  const added = container === undefined ? 0 : containerSize(container);
  const size = list.length - (end - start) + added;
  if (size === 0) return undefined;
  if (size > LISTED_MIN && size > LISTED_OF_CHUNK * (1 + chunksOf(list)))
    return setChunk(chunked(list), chunk, container);
  const documents = container === undefined ? [] : offsetsOf(container).map((offset) => base + offset);
  if (size === 1) return documents[0] ?? list[start > 0 ? 0 : end] ?? 0;
  list.splice(start, end - start, ...documents);
  return list;
}

/** The documents of one chunk; undefined for none. */
export function chunkOfEntry(entry: TermEntry | undefined, chunk: number): Container | undefined {
  if (entry === undefined) return undefined;
  if (typeof entry === "number") return entry >>> POSTING_CHUNK_SHIFT === chunk ? entry & OFFSET_MASK : undefined;
  if (!Array.isArray(entry)) return entry.chunks.get(chunk);
  const start = lowerBound(entry, chunk << POSTING_CHUNK_SHIFT);
  const end = lowerBound(entry, (chunk + 1) << POSTING_CHUNK_SHIFT);
  if (start === end) return undefined;
  if (end === start + 1) return (entry[start] ?? 0) & OFFSET_MASK;
  return Uint16Array.from(entry.slice(start, end), (document) => document & OFFSET_MASK);
}

function setChunk(entry: TermChunks, chunk: number, container: Container | undefined): TermChunks | undefined {
  const before = entry.chunks.get(chunk);
  if (before !== undefined) entry.count -= containerSize(before);
  if (container === undefined) entry.chunks.delete(chunk);
  else {
    entry.chunks.set(chunk, container);
    entry.count += containerSize(container);
  }
  return entry.count === 0 ? undefined : entry;
}

function chunked(list: readonly number[]): TermChunks {
  const chunks = new Map<number, Container>();
  for (let start = 0; start < list.length; ) {
    const chunk = (list[start] ?? 0) >>> POSTING_CHUNK_SHIFT;
    const end = lowerBound(list, (chunk + 1) << POSTING_CHUNK_SHIFT);
    const offsets = list.slice(start, end).map((document) => document & OFFSET_MASK);
    chunks.set(chunk, offsets.length === 1 ? (offsets[0] ?? 0) : Uint16Array.from(offsets));
    start = end;
  }
  return { chunks, count: list.length };
}

/** About how many chunks a sorted list touches; at least so many of its documents are apart. */
function chunksOf(list: readonly number[]): number {
  if (list.length === 0) return 0;
  const first = (list[0] ?? 0) >>> POSTING_CHUNK_SHIFT;
  const last = (list[list.length - 1] ?? 0) >>> POSTING_CHUNK_SHIFT;
  return Math.min(list.length, last - first + 1);
}

function lowerBound(list: readonly number[], document: number): number {
  let low = 0;
  let high = list.length;
  // Most documents are new ones, behind all others.
  if (high > 0 && (list[high - 1] ?? 0) < document) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] ?? 0) < document) low = middle + 1;
    else high = middle;
  }
  return low;
}
