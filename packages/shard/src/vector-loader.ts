import type { VectorIndex } from "@shoal/vector-index";

const ROWS_MAX = 1_024;

/** Feeds an index with vectors from rows, some hundred at a time. */
export class VectorLoader {
  readonly #index: VectorIndex;
  readonly #sequence: number;
  readonly #documents = new Uint32Array(ROWS_MAX);
  readonly #vectors: Float32Array;
  readonly #bytes: Uint8Array;
  #rows = 0;

  /** `sequence`: what the index has reached when this is done. */
  constructor(index: VectorIndex, sequence: number) {
    this.#index = index;
    this.#sequence = sequence;
    this.#vectors = new Float32Array(ROWS_MAX * index.dimensions);
    this.#bytes = new Uint8Array(this.#vectors.buffer);
  }

  /** `vectorBytes`: float32 values of the index's dimensions. */
  add(document: number, vectorBytes: Uint8Array): void {
    this.#bytes.set(vectorBytes, this.#rows * this.#index.dimensions * 4);
    this.#documents[this.#rows] = document;
    this.#rows += 1;
    if (this.#rows === ROWS_MAX) this.flush();
  }

  flush(): void {
    if (this.#rows === 0) return;
    const vectors = this.#vectors.subarray(0, this.#rows * this.#index.dimensions);
    this.#index.put(this.#documents.subarray(0, this.#rows), vectors, this.#sequence);
    this.#rows = 0;
  }
}
