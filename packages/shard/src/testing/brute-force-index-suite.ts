import { readFile, rename, writeFile } from "node:fs/promises";
import { ShoalError } from "@shoal/model";
import type {
  NearestDocuments,
  VectorIndex,
  VectorIndexSettings,
  VectorIndexStatistics,
  VectorSearchOptions,
  VectorSearchSettings,
} from "@shoal/vector-index";
import type { VectorIndexes } from "../vector-indexes.js";

/** A vector index that compares with everything: an oracle, and a fake where the graph does not matter. */
export class BruteForceIndex implements VectorIndex {
  readonly vectors = new Map<number, Float32Array>();
  /** Calls of `put` with at least one document. */
  puts = 0;
  settings: VectorSearchSettings;
  sequence = 0;
  disposed = false;
  /** Awaited by `settled`: lets a test hold writers back. */
  unindexedGate: Promise<void> = Promise.resolve();
  /** Awaited by `search` once it has looked. */
  searchGate: Promise<void> = Promise.resolve();

  constructor(
    readonly dimensions: number,
    settings: VectorSearchSettings,
  ) {
    this.settings = settings;
  }

  put(documents: Uint32Array, vectors: Float32Array, sequence: number): void {
    if (vectors.length !== documents.length * this.dimensions) throw new ShoalError("invalid", "wrong length");
    if (!vectors.every(Number.isFinite)) throw new ShoalError("invalid", "not finite");
    for (const [row, document] of documents.entries()) {
      this.vectors.set(document, vectors.slice(row * this.dimensions, (row + 1) * this.dimensions));
    }
    if (documents.length > 0) this.puts += 1;
    this.sequence = sequence;
  }

  holds(): boolean {
    return false;
  }

  mend(document: number, vector: Float32Array): void {
    this.put(Uint32Array.of(document), vector, this.sequence);
  }

  remove(documents: Uint32Array, sequence: number): void {
    for (const document of documents) this.vectors.delete(document);
    this.sequence = sequence;
  }

  async search(query: Float32Array, count: number, options?: VectorSearchOptions): Promise<NearestDocuments> {
    options?.waiting?.signal?.throwIfAborted();
    const allowed = [...this.vectors].filter(([document]) => isAllowed(options?.allowed, document));
    const hits = allowed.map(([document, vector]) => ({ document, distance: cosineDistance(query, vector) }));
    hits.sort((a, b) => order(a.distance, b.distance) || a.document - b.document);
    const nearest = hits.slice(0, count);
    await this.searchGate;
    return {
      documents: Uint32Array.from(nearest, (hit) => hit.document),
      distances: Float32Array.from(nearest, (hit) => hit.distance),
    };
  }

  configure(settings: VectorSearchSettings): void {
    this.settings = settings;
  }

  async settled(): Promise<void> {
    await this.unindexedGate;
  }

  async linked(): Promise<void> {}

  async rebuild(): Promise<void> {}

  async snapshot(path: string): Promise<number> {
    const { sequence, dimensions } = this;
    const vectors = [...this.vectors].map(([document, vector]) => [document, ...vector]);
    const text = JSON.stringify({ sequence, dimensions, vectors });
    await writeFile(`${path}.tmp`, `${text}\n${text.length}`);
    await rename(`${path}.tmp`, path);
    return sequence;
  }

  statistics(): VectorIndexStatistics {
    const count = this.vectors.size;
    return {
      ...{ count, unindexed: 0, tombstones: 0, deadRows: 0, resident: count, fileBytes: 0 },
      ...{ memoryBytes: 0, recall: undefined },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disposed = true;
  }
}

function isAllowed(allowed: Uint32Array | undefined, document: number): boolean {
  return allowed === undefined || (((allowed[document >>> 5] ?? 0) >>> (document & 31)) & 1) === 1;
}

/** Keeps the indexes it has made, for tests to look into. */
export class BruteForceIndexes implements VectorIndexes {
  readonly made: BruteForceIndex[] = [];

  get latest(): BruteForceIndex {
    const latest = this.made.at(-1);
    if (latest === undefined) throw new Error("no index has been made");
    return latest;
  }

  create(settings: VectorIndexSettings, search: VectorSearchSettings): BruteForceIndex {
    const index = new BruteForceIndex(settings.dimensions, search);
    this.made.push(index);
    return index;
  }

  async load(path: string, settings: VectorIndexSettings, search: VectorSearchSettings): Promise<BruteForceIndex> {
    const file = await readFile(path, "latin1").catch((error: unknown) => {
      throw new ShoalError("notFound", `no file ${path}`, { cause: error });
    });
    const [text = "", length] = file.split("\n");
    if (Number(length) !== text.length) throw new ShoalError("dataLoss", `${path} is damaged`);
    const stored = JSON.parse(text) as { sequence: number; dimensions: number; vectors: number[][] };
    if (stored.dimensions !== settings.dimensions) throw new ShoalError("dataLoss", `${path} has other dimensions`);
    const index = this.create(settings, search);
    for (const [document = 0, ...vector] of stored.vectors) index.vectors.set(document, Float32Array.from(vector));
    index.sequence = stored.sequence;
    return index;
  }
}

/** `1 - a·b / (|a| |b|)`, clamped to 0 to 2; NaN when one is zero. */
export function cosineDistance(a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let aa = 0;
  let bb = 0;
  for (let i = 0; i < a.length; i++) {
    const x = a[i] ?? 0;
    const y = b[i] ?? 0;
    dot += x * y;
    aa += x * x;
    bb += y * y;
  }
  if (aa === 0 || bb === 0) return Number.NaN;
  return Math.fround(Math.min(2, Math.max(0, 1 - dot / Math.sqrt(aa * bb))));
}

function order(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a - b;
}
