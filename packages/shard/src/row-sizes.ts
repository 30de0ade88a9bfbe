/** Steps in which sizes are kept: eight for each doubling, so that 2^31 bytes fit into one byte. */
const STEPS = 8;

/** Bytes of each step. */
const BYTES = Float64Array.from({ length: 256 }, (_, step) => 2 ** (step / STEPS));

/** How much of the mean each row makes. */
const WEIGHT = 1 / 8;

/** What a shard that has seen no row takes one for. */
const MEAN_BYTES_AT_FIRST = 4 * 1024;

/**
 * About how large the rows of a shard are, by document: known of those that were read or written since it was opened.
 * It takes a byte a document. Rounded up, by 9 % at most.
 */
export class RowSizes {
  /** 0: not known. */
  #steps = new Uint8Array(0);
  #mean = MEAN_BYTES_AT_FIRST;

  /** Of the rows that were seen last. */
  get meanBytes(): number {
    return this.#mean;
  }

  /** Undefined when it is not known. */
  bytesOf(document: number): number | undefined {
    const step = this.#steps[document] ?? 0;
    return step === 0 ? undefined : BYTES[step];
  }

  saw(document: number, bytes: number): void {
    if (document >= this.#steps.length) this.#enlarge(document);
    this.#steps[document] = Math.max(1, Math.ceil(Math.log2(bytes) * STEPS));
    this.#mean += (bytes - this.#mean) * WEIGHT;
  }

  forget(document: number): void {
    if (document < this.#steps.length) this.#steps[document] = 0;
  }

  #enlarge(document: number): void {
    const steps = new Uint8Array(Math.max(this.#steps.length * 2, document + 1, 256));
    steps.set(this.#steps);
    this.#steps = steps;
  }
}
