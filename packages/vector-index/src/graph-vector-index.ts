import { CLIENT_PHRASES, ShoalError } from "@shoal/model";
import { NativeVectorIndex, NotFinite } from "@shoal/native";
import type { Calibration } from "./calibration.js";
import { checkEf, checkedSettings, checkSearchSettings, checkWhole, FLAT_SEARCH_CUTOFF_MAX } from "./check-settings.js";
import { closedError, DamagedVector, expectDone, orAborted } from "./native-result.js";
import { readSnapshot } from "./read-snapshot.js";
import { RecallCalibration } from "./recall-calibration.js";
import { SearchesUnderWay } from "./searches-under-way.js";
import type {
  NearestDocuments,
  VectorIndex,
  VectorIndexSettings,
  VectorIndexStatistics,
  VectorSearchOptions,
  VectorSearchSettings,
} from "./vector-index.js";
import { SnapshotWriter, type SnapshotWriterOptions } from "./write-snapshot.js";

/** A rebuild costs two links for each tombstone that it removes at this share, and searches a half more until then. */
const TOMBSTONE_SHARE_MAX = 1 / 3;
const TOMBSTONES_MIN = 100;
const RESULTS_MAX = 2 ** 31 - 1;

/** A fresh, empty index. Fails with `invalid` on settings out of range. */
export function createVectorIndex(settings: VectorIndexSettings, search: VectorSearchSettings): VectorIndex {
  const checked = checkedSettings(settings);
  checkSearchSettings(search);
  const native = new NativeVectorIndex(checked.dimensions, checked.maxConnections, checked.efConstruction);
  return new GraphVectorIndex(native, checked, search, 0);
}

/**
 * The index that `snapshot` wrote to `path`, with its watermark in `sequence`. Every byte is verified first. Fails with
 * `dataLoss`, naming the file and the reason, when it is damaged, something else, or was written with other settings;
 * with `notFound` when there is none; with `unavailable` when it cannot be opened.
 */
export async function loadVectorIndex(
  path: string,
  settings: VectorIndexSettings,
  search: VectorSearchSettings,
): Promise<VectorIndex> {
  const checked = checkedSettings(settings);
  checkSearchSettings(search);
  const { native, sequence, written, calibration } = await readSnapshot(path, checked, search.vectorCacheMaxObjects);
  return new GraphVectorIndex(native, checked, search, sequence, { written }, calibration);
}

export class GraphVectorIndex implements VectorIndex {
  readonly dimensions: number;
  readonly #native: NativeVectorIndex;
  readonly #writer: SnapshotWriter;
  #search: VectorSearchSettings;
  readonly #underWay = new SearchesUnderWay();
  readonly #calibration: RecallCalibration;
  #sequence: number;
  #cleanup: NodeJS.Timeout | undefined;
  #rebuild: Promise<void> | undefined;
  #snapshot: Promise<unknown> = Promise.resolve();
  #closed: Promise<void> | undefined;

  constructor(
    native: NativeVectorIndex,
    settings: VectorIndexSettings,
    search: VectorSearchSettings,
    sequence: number,
    snapshots: SnapshotWriterOptions = {},
    calibration?: Calibration,
  ) {
    this.#native = native;
    this.#writer = new SnapshotWriter(native, settings, snapshots);
    this.dimensions = settings.dimensions;
    this.#sequence = sequence;
    this.#search = search;
    this.#calibration = new RecallCalibration(native, settings.dimensions, search.targetRecall);
    if (calibration !== undefined) this.#calibration.restore(calibration);
    this.#calibration.configure(search);
    this.#schedule();
  }

  get sequence(): number {
    return this.#sequence;
  }

  put(documents: Uint32Array, vectors: Float32Array, sequence: number): void {
    this.#check();
    if (vectors.length !== documents.length * this.dimensions) {
      throw new ShoalError(
        "invalid",
        `vector index: ${documents.length} vectors of ${this.dimensions} dimensions are ` +
          `${documents.length * this.dimensions} numbers, got ${vectors.length}`,
      );
    }
    try {
      this.#native.put(documents, vectors);
    } catch (error) {
      throw this.#refusal(error, vectors, (row) => `vector of document ${documents[row]}`);
    }
    this.#sequence = sequence;
    this.#calibration.changed();
  }

  holds({ document, row, generation }: DamagedVector): boolean {
    this.#check();
    return this.#native.holds(document, row, generation);
  }

  mend(document: number, vector: Float32Array): void {
    this.#check();
    if (vector.length !== this.dimensions)
      throw new RangeError(`${vector.length} numbers for ${this.dimensions} dimensions`);
    this.#native.putAnew(Uint32Array.of(document), vector);
    this.#calibration.changed();
  }

  remove(documents: Uint32Array, sequence: number): void {
    this.#check();
    this.#native.remove(documents);
    this.#sequence = sequence;
    // Nothing to find any more: give the memory back now rather than at the next look.
    const { live, rows } = this.#native.counts();
    if (live === 0 && rows > 0) this.#rebuildInBackground();
  }

  async search(query: Float32Array, count: number, options: VectorSearchOptions = {}): Promise<NearestDocuments> {
    this.#check();
    if (query.length !== this.dimensions) {
      throw new ShoalError("invalid", CLIENT_PHRASES.vectorLengths(this.dimensions, query.length));
    }
    checkWhole("count", count, 0, RESULTS_MAX);
    const { waiting, allowed, ef = this.#search.ef, shards = 1 } = options;
    checkEf(ef);
    checkWhole("shards", shards, 1, RESULTS_MAX);
    const flatSearchCutoff = Math.min(this.#search.flatSearchCutoff, FLAT_SEARCH_CUTOFF_MAX);
    if (ef < 0) this.#calibration.searched(query);
    let number = 0;
    try {
      const responded = this.#native.search(query, count, shards, ef, flatSearchCutoff, allowed, (request) => {
        number = request;
      });
      if (waiting === undefined) return nearest(expectDone(await responded));
      const cancel = (): void => {
        if (this.#closed === undefined) this.#native.cancel(number);
      };
      return nearest(expectDone(await this.#underWay.wait(responded, waiting, cancel)));
    } catch (error) {
      throw this.#refusal(error, query, () => "query vector");
    }
  }

  configure(settings: VectorSearchSettings): void {
    this.#check();
    checkSearchSettings(settings);
    const isSmaller = keptRows(settings) < keptRows(this.#search);
    this.#search = settings;
    // Of what the last snapshot holds; a failure leaves it to the next one.
    if (isSmaller)
      this.#snapshot = this.#snapshot.then(() => this.#writer.release(keptRows(this.#search))).catch(() => {});
    this.#calibration.configure(settings);
    this.#schedule();
  }

  async settled(signal?: AbortSignal): Promise<void> {
    await this.#unindexedAtMost(this.#search.unindexedVectorsMax, signal);
  }

  async linked(signal?: AbortSignal): Promise<void> {
    await this.#unindexedAtMost(0, signal);
  }

  async rebuild(): Promise<void> {
    this.#check();
    expectDone(await this.#native.rebuild());
    // Another graph, of fewer rows it may be.
    this.#calibration.changed();
  }

  /** One at a time: a second call waits for the first. */
  snapshot(path: string, vectorsKept?: number): Promise<number> {
    const run = async (): Promise<number> => {
      this.#check();
      return this.#writer.write(path, {
        sequence: () => this.#sequence,
        calibration: () => this.#calibration.latest,
        check: () => this.#check(),
        rowsKept: () => vectorsKept ?? keptRows(this.#search),
      });
    };
    const result = this.#snapshot.then(run);
    this.#snapshot = result.catch((error: unknown) => this.#reportDamage(error));
    return result;
  }

  statistics(): VectorIndexStatistics {
    this.#check();
    const { live, unindexed, tombstones, rows, resident, memoryBytes: nativeBytes } = this.#native.counts();
    const { recall, memoryBytes: queryBytes } = this.#calibration;
    const memoryBytes = nativeBytes + queryBytes;
    const { fileBytes } = this.#writer;
    return { count: live, unindexed, tombstones, deadRows: rows - live, resident, memoryBytes, fileBytes, recall };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    clearInterval(this.#cleanup);
    this.#calibration.close();
    // A snapshot under way notices at its next block.
    const closing = this.#snapshot.then(() => this.#native.close());
    await closing;
  }

  #check(): void {
    if (this.#closed !== undefined) throw closedError();
  }

  #refusal(error: unknown, vectors: Float32Array, name: (row: number) => string): unknown {
    if (!(error instanceof NotFinite)) return error;
    const row = Math.floor(error.position / this.dimensions);
    const value = vectors[error.position];
    return new ShoalError(
      "invalid",
      `${name(row)}: value ${value} at position ${error.position % this.dimensions} is not a finite float32 number`,
    );
  }

  async #unindexedAtMost(unindexedMax: number, signal: AbortSignal | undefined): Promise<void> {
    this.#check();
    signal?.throwIfAborted();
    // At 0 the graph must also have been looked through, which only the native side knows.
    if (unindexedMax > 0 && this.#native.counts().unindexed <= unindexedMax) return;
    expectDone(await orAborted(this.#native.awaitUnindexed(unindexedMax), signal));
  }

  #schedule(): void {
    clearInterval(this.#cleanup);
    const { cleanupIntervalSeconds } = this.#search;
    if (cleanupIntervalSeconds === 0) return;
    // setInterval counts in 31 bits of milliseconds.
    const milliseconds = Math.min(cleanupIntervalSeconds * 1000, 2 ** 31 - 1);
    this.#cleanup = setInterval(() => {
      const statistics = this.statistics();
      if (needsRebuild(statistics) && this.#search.hasRoom?.(livingBytes(statistics)) !== false)
        this.#rebuildInBackground();
    }, milliseconds).unref();
  }

  #reportDamage(error: unknown): void {
    if (error instanceof DamagedVector) this.#search.onDamaged?.(error);
  }

  #rebuildInBackground(): void {
    this.#rebuild ??= this.rebuild()
      // Any refusal (closed, no memory, too) leaves the tombstones for the next time.
      .catch((error: unknown) => this.#reportDamage(error))
      .finally(() => {
        this.#rebuild = undefined;
      });
  }
}

/** Of all rows, linked or not: one that dies before it is linked stays, too. */
function needsRebuild({ count, deadRows }: VectorIndexStatistics): boolean {
  return deadRows >= TOMBSTONES_MIN && deadRows > (count + deadRows) * TOMBSTONE_SHARE_MAX;
}

function keptRows({ vectorCacheMaxObjects = Number.MAX_SAFE_INTEGER }: VectorSearchSettings): number {
  return vectorCacheMaxObjects;
}

/** About what an index would take without its dead rows. */
export function livingBytes({ count, deadRows, memoryBytes }: VectorIndexStatistics): number {
  return (memoryBytes * count) / Math.max(1, count + deadRows);
}

/** About what it would take when it was loaded from the rows: without the dead ones, and with all vectors in memory. */
export function reloadedBytes(statistics: VectorIndexStatistics, dimensions: number): number {
  const { count, deadRows, resident, memoryBytes } = statistics;
  const beyond = count + deadRows - resident;
  return livingBytes({
    ...statistics,
    memoryBytes: memoryBytes + beyond * dimensions * Float32Array.BYTES_PER_ELEMENT,
  });
}

function nearest({ integers, floats }: { integers: Uint32Array; floats: Float32Array }): NearestDocuments {
  return { documents: integers, distances: floats };
}
