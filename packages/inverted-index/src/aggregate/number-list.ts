/** Numbers in a row, eight bytes each. */
export class NumberList {
  #values = new Float64Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const grown = new Float64Array(2 * this.#length);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[this.#length++] = value;
  }

  /** A view, good until the next `push`. */
  get values(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }
}
