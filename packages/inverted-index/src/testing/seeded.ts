/** Random numbers that a seed repeats: a linear congruential generator of 32 bits. */
export class Seeded {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed, 0x9e3779b1) >>> 0;
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * bound);
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<Value>(values: readonly Value[]): Value {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new Error("nothing to pick from");
    return value;
  }

  list<Value>(most: number, make: () => Value): Value[] {
    return Array.from({ length: this.below(most + 1) }, make);
  }
}
