import { type SeededRandom, seededRandom } from "@shoal/seeded-random";

/** One stream of random choices and vectors. */
export interface SeededVectors extends SeededRandom {
  /** Normally distributed, by Box and Muller. */
  readonly normal: () => number;
  readonly vectors: (count: number, dimensions: number) => Float32Array;
  /** Around `clusters` centres, as real data lies. Vector i belongs to cluster i % clusters. */
  readonly clustered: (count: number, dimensions: number, clusters: number) => Float32Array;
}

export function seededVectors(seed: number): SeededVectors {
  const random = seededRandom(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  const vectors = (count: number, dimensions: number): Float32Array =>
    Float32Array.from({ length: count * dimensions }, normal);
  return {
    ...random,
    normal,
    vectors,
    clustered: (count, dimensions, clusters) => {
      const centres = vectors(clusters, dimensions);
      const out = new Float32Array(count * dimensions);
      for (let i = 0; i < out.length; i++) {
        const cluster = Math.floor(i / dimensions) % clusters;
        out[i] = (centres[cluster * dimensions + (i % dimensions)] ?? 0) + 0.5 * normal();
      }
      return out;
    },
  };
}
