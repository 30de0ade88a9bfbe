import { createVectorIndex, loadVectorIndex, type VectorIndex } from "@shoal/vector-index";
import type { VectorIndexes } from "../vector-indexes.js";

/** Real graphs; of the last one it is known what has been linked since it was made or loaded. */
export class CountedIndexes implements VectorIndexes {
  readonly alive = new Set<VectorIndex>();
  #latest: VectorIndex | undefined;
  #loaded = 0;

  readonly create: VectorIndexes["create"] = (settings, search) => this.#keep(createVectorIndex(settings, search));
  readonly load: VectorIndexes["load"] = async (...options) => this.#keep(await loadVectorIndex(...options));

  /** Vectors that were linked, or are to be. */
  get links(): number {
    return rowsOf(this.#latest) - this.#loaded;
  }

  #keep(index: VectorIndex): VectorIndex {
    this.#latest = index;
    this.#loaded = rowsOf(index);
    this.alive.add(index);
    const dispose = index[Symbol.asyncDispose].bind(index);
    index[Symbol.asyncDispose] = () => {
      this.alive.delete(index);
      return dispose();
    };
    return index;
  }
}

/** Rows of an index, dead ones included: each was, or is to be, linked once. */
function rowsOf(index: VectorIndex | undefined): number {
  const { count, deadRows } = index?.statistics() ?? { count: 0, deadRows: 0 };
  return count + deadRows;
}
