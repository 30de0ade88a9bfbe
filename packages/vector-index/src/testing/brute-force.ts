import type { NearestDocuments } from "../vector-index.js";

/** What an index must answer, computed in float64 over every document: the oracle of the tests. */
export class BruteForce {
  readonly #vectors = new Map<number, Float64Array>();

  constructor(readonly dimensions: number) {}

  get size(): number {
    return this.#vectors.size;
  }

  copy(): BruteForce {
    const copy = new BruteForce(this.dimensions);
    for (const [document, vector] of this.#vectors) copy.#vectors.set(document, vector);
    return copy;
  }

  documents(): number[] {
    return [...this.#vectors.keys()];
  }

  put(documents: Uint32Array, vectors: Float32Array): void {
    documents.forEach((document, i) => {
      this.#vectors.set(document, unit(vectors.subarray(i * this.dimensions, (i + 1) * this.dimensions)));
    });
  }

  remove(documents: Uint32Array): void {
    for (const document of documents) this.#vectors.delete(document);
  }

  distance(query: Float32Array, document: number): number {
    const vector = this.#vectors.get(document);
    return vector === undefined ? Number.NaN : cosineDistance(unit(query), vector);
  }

  search(query: Float32Array, count: number, allowed?: Uint32Array): NearestDocuments {
    const normalised = unit(query);
    const found: { document: number; distance: number }[] = [];
    for (const [document, vector] of this.#vectors) {
      if (allowed !== undefined && !isAllowed(allowed, document)) continue;
      found.push({ document, distance: cosineDistance(normalised, vector) });
    }
    found.sort((a, b) => order(a.distance) - order(b.distance) || a.document - b.document);
    found.length = Math.min(found.length, count);
    return {
      documents: Uint32Array.from(found, ({ document }) => document),
      distances: Float32Array.from(found, ({ distance }) => distance),
    };
  }
}

export function isAllowed(allowed: Uint32Array, document: number): boolean {
  return (((allowed[document >>> 5] ?? 0) >>> (document & 31)) & 1) === 1;
}

/** A bitmap of these documents. */
export function bitmap(documents: Iterable<number>): Uint32Array {
  const list = [...documents];
  const words = new Uint32Array((list.reduce((most, document) => Math.max(most, document), 0) >>> 5) + 1);
  for (const document of list) words[document >>> 5] = (words[document >>> 5] ?? 0) | (1 << (document & 31));
  return words;
}

function order(distance: number): number {
  return Number.isNaN(distance) ? Number.MAX_VALUE : distance;
}

function unit(vector: Float32Array): Float64Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares);
  return Float64Array.from(vector, (value) => (length === 0 ? Number.NaN : value / length));
}

function cosineDistance(a: Float64Array, b: Float64Array): number {
  let dot = 0;
  for (let i = 0; i < a.length; i++) dot += (a[i] ?? 0) * (b[i] ?? 0);
  return 1 - dot;
}
