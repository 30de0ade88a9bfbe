/** Bytes of queries that are kept. */
const BYTES_MAX = 2 * 1024 * 1024;
const QUERIES_MAX = 512;
/** The mean age of what is kept is so many times the number that is kept. */
const AGE = 8;

/**
 * Some of the queries that were asked, each with nearly the same chance (Vitter's algorithm R, 1985); those that are old leave it
 * again, so that it follows when queries become others.
 */
export class QueryReservoir {
  readonly #queries: Float32Array[] = [];
  readonly #most: number;
  #seen = 0;
  #random = 1;

  constructor(dimensions: number) {
    this.#most = Math.max(1, Math.min(QUERIES_MAX, Math.floor(BYTES_MAX / (4 * dimensions))));
  }

  get seen(): number {
    return this.#seen;
  }

  get size(): number {
    return this.#queries.length;
  }

  get memoryBytes(): number {
    return this.size * (this.#queries[0]?.byteLength ?? 0);
  }

  /** Up to `count` from a place on, one behind the other. */
  range(first: number, count: number): Float32Array {
    const queries = this.#queries.slice(first, first + count);
    const dimensions = queries[0]?.length ?? 0;
    const all = new Float32Array(queries.length * dimensions);
    queries.forEach((query, at) => {
      all.set(query, at * dimensions);
    });
    return all;
  }

  add(query: Float32Array): void {
    this.#seen++;
    if (this.#queries.length < this.#most) {
      this.#queries.push(query.slice());
      return;
    }
    const place = this.#below(Math.min(this.#seen, AGE * this.#most));
    this.#queries[place]?.set(query);
  }

  /** Of a linear congruential generator (Numerical Recipes): what is kept needs no better chance. */
  #below(most: number): number {
    this.#random = (Math.imul(this.#random, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#random / 2 ** 32) * most);
  }
}
