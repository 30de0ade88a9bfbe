/** Reproducible chance for tests: mulberry32. */
export class Seeded {
  #state: number;

  constructor(readonly seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Normally distributed, by Box and Muller. */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }

  vectors(count: number, dimensions: number): Float32Array {
    return Float32Array.from({ length: count * dimensions }, () => this.normal());
  }

  /** Around `clusters` centres, as real data lies. Vector i belongs to cluster i % clusters. */
  clustered(count: number, dimensions: number, clusters: number): Float32Array {
    const centres = this.vectors(clusters, dimensions);
    const out = new Float32Array(count * dimensions);
    for (let i = 0; i < out.length; i++) {
      const cluster = Math.floor(i / dimensions) % clusters;
      out[i] = (centres[cluster * dimensions + (i % dimensions)] ?? 0) + 0.5 * this.normal();
    }
    return out;
  }
}
