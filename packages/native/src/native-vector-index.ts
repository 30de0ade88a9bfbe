import { addon } from "./addon.js";
import { type ChosenRows, type RecallProbe, readProbes } from "./recall-probe.js";
import { type NativeResult, request } from "./requests.js";
import { effortNumbers, type SearchEffort } from "./search-effort.js";

type Handle = object;

interface VectorIndexAddon {
  indexCreate(dimensions: number, maxConnections: number, efConstruction: number): Handle;
  indexPut(index: Handle, documents: Uint32Array, vectors: Float32Array): number;
  indexPutAnew(index: Handle, documents: Uint32Array, vectors: Float32Array): number;
  indexRemove(index: Handle, documents: Uint32Array): void;
  indexHolds(index: Handle, document: number, row: number, generation: number): boolean;
  indexSearch(
    index: Handle,
    request: number,
    query: Float32Array,
    wanted: number,
    shards: number,
    ef: number,
    flatSearchCutoff: number,
    allowed: Uint32Array | undefined,
  ): number;
  holdLinks(held: number): void;
  indexProbe(
    index: Handle,
    request: number,
    candidates: Uint32Array,
    queries: Float32Array | number,
    seed: number,
  ): void;
  indexSetEffort(index: Handle, numbers: Float64Array): void;
  wakeThreads(): void;
  indexCancel(index: Handle, request: number): void;
  indexCounts(index: Handle, out: Float64Array): void;
  indexAwaitUnindexed(index: Handle, request: number, unindexedMax: number): void;
  indexRebuild(index: Handle, request: number): void;
  indexClose(index: Handle, request: number): void;
  indexPin(index: Handle, request: number): void;
  indexUnpin(index: Handle): void;
  indexFreeze(index: Handle, out: Uint32Array): void;
  indexExportBlock(index: Handle, request: number, kind: number, first: number, end: number, target: Uint8Array): void;
  indexExportRows(index: Handle, request: number, first: number, file: Uint32Array, target: Uint8Array): void;
  indexExportDeaths(index: Handle, request: number, target: Uint8Array): void;
  indexRelease(
    index: Handle,
    request: number,
    path: Uint8Array,
    file: Uint32Array,
    generation: number,
    keep: number,
    end: number,
  ): void;
  indexFillFrom(index: Handle, path: Uint8Array, file: Uint32Array, keep: number): void;
  indexImportBlock(index: Handle, request: number, kind: number, first: number, block: Uint8Array): void;
  indexImportRows(index: Handle, request: number, first: number, file: Uint32Array, records: Uint8Array): void;
  indexImportDeaths(index: Handle, request: number, bits: Uint8Array): void;
  indexFinishImport(index: Handle, request: number, rows: number, linked: number): void;
}

const native = addon as VectorIndexAddon;

/**
 * No index of the process links from now on, until the function that it returns is called, or something waits for links; searches
 * scan what is not linked. For a start: its first results do not need links, and linking would take the processors from it.
 */
export function holdLinks(): () => void {
  native.holdLinks(1);
  return () => native.holdLinks(0);
}

/** The largest number of dimensions, and the bounds of the settings. */
export const DIMENSIONS_MAX = 65_535;
export const MAX_CONNECTIONS_MIN = 4;
export const MAX_CONNECTIONS_MAX = 4_096;

/** Bytes before the payload of a block: a u32 tells the kind, u64s tell the payload's length and the hash of it all. */
export const BLOCK_HEADER_BYTES = 32;
export const BLOCK_KIND_OFFSET = 4;
export const BLOCK_LENGTH_OFFSET = 16;
export const BLOCK_HASH_OFFSET = 24;
/** What `exportBlock` needs at least to fit one row or node of any size. */
export const BLOCK_BYTES_MIN = 512 * 1024;

export const BLOCK_KINDS = { nodes: 2, changedNodes: 3 } as const;

/** Bytes of the record of a row; the first 8 are its hash (packages/native/cpp/row-records.h). */
export const rowRecordBytes = (dimensions: number): number => 16 + 4 * dimensions;

/** Which file of rows, and what the records up to here amount to: two u64. */
export interface RowFilePlace {
  readonly seed: bigint;
  readonly chain: bigint;
}

export interface Frozen {
  readonly rows: number;
  readonly linked: number;
  /** Another one when rows and nodes are not those of before: a rebuild has made them again. */
  readonly generation: number;
  /** Whether codes distinguish distances between rows, so that their float32 values need not be in memory. */
  readonly codesSuffice: boolean;
}

/** Numbers of rows are below 2^30. */
const ROWS_MAX = 2 ** 30;

function rowFileParts({ seed, chain }: RowFilePlace): Uint32Array {
  return Uint32Array.from([seed, seed >> 32n, chain, chain >> 32n], (part) => Number(part & 0xffffffffn));
}

/** The chain in the last two numbers of a result. */
export function chainOf(integers: Uint32Array): bigint {
  const [low = 0, high = 0] = integers.subarray(-2);
  return (BigInt(high) << 32n) | BigInt(low);
}

/** Refused, before anything changed: the value at `position` of those given is NaN or infinite. */
export class NotFinite extends RangeError {
  constructor(readonly position: number) {
    super(`the value at position ${position} is not a finite number`);
  }
}

export interface NativeCounts {
  /** Documents that can be found. */
  readonly live: number;
  /** Of these, not linked yet, although the index is large enough to need a graph. */
  readonly unindexed: number;
  /** Dead rows in the graph. */
  readonly tombstones: number;
  /** All rows, dead ones included, and those of them that the graph holds. */
  readonly rows: number;
  readonly linked: number;
  readonly memoryBytes: number;
  /** Rows, dead ones included, whose float32 values are in memory. */
  readonly resident: number;
}

function check(result: number): void {
  if (result === -1) return;
  if (result === -2) throw new Error("no memory for more vectors");
  throw new NotFinite(result);
}

let wakesThreads = false;

/**
 * At the end of this iteration of the event loop: a thread that is woken at once takes the processor from the event loop, which
 * has more requests to hand over.
 */
function wakeThreadsOnce(): void {
  if (wakesThreads) return;
  wakesThreads = true;
  setImmediate(wakeThreads);
}

function wakeThreads(): void {
  wakesThreads = false;
  native.wakeThreads();
}

/**
 * Vectors by document id (uint32) on the native side, with their graph. Vectors are normalised when they are put, and
 * kept exactly as float32. Promises resolve with the native threads' answer, whatever its status.
 *
 * Arrays of a wrong length, and calls that the state of the index does not allow, throw a TypeError. Native threads use byte arrays
 * of blocks and records until their result has come: they are kept meanwhile, and must not be changed, transferred or resized.
 */
export class NativeVectorIndex {
  readonly #handle: Handle;
  readonly #counts = new Float64Array(7);

  constructor(dimensions: number, maxConnections: number, efConstruction: number) {
    this.#handle = native.indexCreate(dimensions, maxConnections, efConstruction);
  }

  /** Stores all of them, or throws NotFinite and stores none. */
  put(documents: Uint32Array, vectors: Float32Array): void {
    check(native.indexPut(this.#handle, documents, vectors));
  }

  /** As `put`, also of what documents have already: instead of rows that cannot be read. */
  putAnew(documents: Uint32Array, vectors: Float32Array): void {
    check(native.indexPutAnew(this.#handle, documents, vectors));
  }

  remove(documents: Uint32Array): void {
    native.indexRemove(this.#handle, documents);
  }

  /** Whether a row that a result `damaged` names is still what its document has. */
  holds(document: number, row: number, generation: number): boolean {
    return native.indexHolds(this.#handle, document, row, generation);
  }

  /**
   * The nearest documents in `integers` with distances in `floats`. `ef` -1 is automatic: then it is as large as results
   * need that are merged over `shards`. `number` tells the request's number, for `cancel`. Rejects with NotFinite.
   */
  search(
    query: Float32Array,
    wanted: number,
    shards: number,
    ef: number,
    flatSearchCutoff: number,
    allowed: Uint32Array | undefined,
    number: (request: number) => void,
  ): Promise<NativeResult> {
    return request((id) => {
      check(native.indexSearch(this.#handle, id, query, wanted, shards, ef, flatSearchCutoff, allowed));
      wakeThreadsOnce();
      number(id);
    });
  }

  /** Takes a search back that no thread has begun: it is answered `cancelled`. */
  cancel(search: number): void {
    native.indexCancel(this.#handle, search);
  }

  /**
   * Looks for queries exactly, and records what walks of the graph with each number of `candidates` (ascending) find of them.
   * `queries`: up to {@link PROBES_TOGETHER}, one behind the other, or as many rows that a seed chooses, each as if it were not
   * in the index, moved a little. One record for each that has a direction; none when the index has no graph, is rebuilt meanwhile,
   * or is being closed.
   */
  async probe(candidates: Uint32Array, queries: Float32Array | ChosenRows): Promise<readonly RecallProbe[]> {
    const isChosen = !(queries instanceof Float32Array);
    const result = await request((id) =>
      isChosen
        ? native.indexProbe(this.#handle, id, candidates, queries.rows, queries.seed)
        : native.indexProbe(this.#handle, id, candidates, queries, 0),
    );
    return result.status === "done" ? readProbes(result, candidates.length) : [];
  }

  /** How many candidates searches keep from now on when their `ef` is -1. */
  setEffort(effort: SearchEffort): void {
    native.indexSetEffort(this.#handle, effortNumbers(effort));
  }

  counts(): NativeCounts {
    const out = this.#counts;
    native.indexCounts(this.#handle, out);
    const [live = 0, unindexed = 0, tombstones = 0, rows = 0, linked = 0, memoryBytes = 0, resident = 0] = out;
    return { live, unindexed, tombstones, rows, linked, memoryBytes, resident };
  }

  /** Answered as soon as the unindexed vectors are at most `unindexedMax`. */
  awaitUnindexed(unindexedMax: number): Promise<NativeResult> {
    return request((id) => native.indexAwaitUnindexed(this.#handle, id, unindexedMax));
  }

  /** Answered when rows and graph are free of tombstones; `damaged` with what `holds` takes when a vector cannot be read. */
  rebuild(): Promise<NativeResult> {
    return request((id) => native.indexRebuild(this.#handle, id));
  }

  /** Answered when all accepted searches are, and the memory is given back. */
  close(): Promise<NativeResult> {
    return request((id) => native.indexClose(this.#handle, id));
  }

  /** From the result until `unpin`, the graph stands still: searches and `put` go on, linking and rebuild wait. */
  pin(): Promise<NativeResult> {
    return request((id) => native.indexPin(this.#handle, id));
  }

  unpin(): void {
    native.indexUnpin(this.#handle);
  }

  /** While pinned: makes this the moment that exported bytes show. */
  freeze(): Frozen {
    const out = new Uint32Array(4);
    native.indexFreeze(this.#handle, out);
    const [rows = 0, linked = 0, generation = 0, codesSuffice = 0] = out;
    return { rows, linked, generation, codesSuffice: codesSuffice === 1 };
  }

  /**
   * Writes a checksummed block of nodes from `first` on, all or the changed ones, below `end` to `target`; answers
   * [bytes, next first]. No bytes: none has changed.
   */
  exportBlock(kind: keyof typeof BLOCK_KINDS, first: number, end: number, target: Uint8Array): Promise<NativeResult> {
    return request((id) => native.indexExportBlock(this.#handle, id, BLOCK_KINDS[kind], first, end, target));
  }

  /** Writes records of rows from `first` on to `target`; answers [bytes, next first, chain]. */
  exportRows(first: number, file: RowFilePlace, target: Uint8Array): Promise<NativeResult> {
    return request((id) => native.indexExportRows(this.#handle, id, first, rowFileParts(file), target));
  }

  /** Writes a bit for each frozen row to `target`, which has a byte for eight of them: set when the row is dead. */
  exportDeaths(target: Uint8Array): Promise<NativeResult> {
    return request((id) => native.indexExportDeaths(this.#handle, id, target));
  }

  /**
   * Takes float32 values of rows from `keep` to `end` out of memory: they are read from the file `path` from then on, which holds
   * all rows up to `end`. Not those of another generation, those that are not linked, and where codes do not tell rows.
   */
  release(path: string, file: RowFilePlace, generation: number, keep: number, end: number): Promise<NativeResult> {
    const least = Math.min(keep, ROWS_MAX);
    const bytes = Buffer.from(path);
    return request((id) =>
      native.indexRelease(this.#handle, id, Uint8Array.from(bytes), rowFileParts(file), generation, least, end),
    );
  }

  /** Before the first row: those from `keep` on are read from the file, and not kept while they come. */
  fillFrom(path: string, file: RowFilePlace, keep: number): void {
    const bytes = Uint8Array.from(Buffer.from(path));
    native.indexFillFrom(this.#handle, bytes, rowFileParts(file), Math.min(keep, ROWS_MAX));
  }

  /** Into a new index: verifies a block and takes it in; answers [next first], or `damaged`. */
  importBlock(kind: keyof typeof BLOCK_KINDS, first: number, block: Uint8Array): Promise<NativeResult> {
    return request((id) => native.indexImportBlock(this.#handle, id, BLOCK_KINDS[kind], first, block));
  }

  /** Into a new index: verifies records and takes them in; answers [next first, chain], or `damaged`. */
  importRows(first: number, file: RowFilePlace, records: Uint8Array): Promise<NativeResult> {
    return request((id) => native.indexImportRows(this.#handle, id, first, rowFileParts(file), records));
  }

  /** After the last row: takes in what `exportDeaths` wrote, or answers `damaged`. */
  importDeaths(bits: Uint8Array): Promise<NativeResult> {
    return request((id) => native.indexImportDeaths(this.#handle, id, bits));
  }

  /** After the last block: makes the index usable, or answers `damaged`. */
  finishImport(rows: number, linked: number): Promise<NativeResult> {
    return request((id) => native.indexFinishImport(this.#handle, id, rows, linked));
  }
}
