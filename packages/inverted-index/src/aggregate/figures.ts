import { ExactSum } from "@shoal/model";

/** What is said of some numbers. */
export interface NumberFigures {
  readonly count: number;
  /** Parts of an `ExactSum`. */
  readonly sum: readonly number[];
  /** Undefined, as `maximum`, when there is no number. */
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
}

/** Count, exact sum and bounds of the numbers that are added. */
export class Figures {
  readonly #sum = new ExactSum();
  #count = 0;
  #minimum = Number.POSITIVE_INFINITY;
  #maximum = Number.NEGATIVE_INFINITY;

  get count(): number {
    return this.#count;
  }

  add(value: number): void {
    this.#count += 1;
    this.#sum.add(value);
    if (value < this.#minimum) this.#minimum = value;
    if (value > this.#maximum) this.#maximum = value;
  }

  all(): NumberFigures {
    const isEmpty = this.#count === 0;
    return {
      count: this.#count,
      sum: this.#sum.parts(),
      minimum: isEmpty ? undefined : this.#minimum,
      maximum: isEmpty ? undefined : this.#maximum,
    };
  }
}
