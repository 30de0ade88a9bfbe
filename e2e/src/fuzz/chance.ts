import { seededRandom } from "@shoal/data-sets";

/** Choices out of one stream of random numbers. */
export class Chance {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  /** In [0, 1). */
  fraction(): number {
    return this.#random();
  }

  /** From 0 to `count` - 1. */
  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  oneIn(count: number): boolean {
    return this.below(count) === 0;
  }

  pick<T>(from: readonly T[]): T {
    if (from.length === 0) throw new Error("nothing to pick from");
    return from[this.below(from.length)] as T;
  }

  /** From 0 to `most` items. */
  some<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}
