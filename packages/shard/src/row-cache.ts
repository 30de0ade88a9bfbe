import { RowView } from "./row.js";

const SLAB_BYTES = 256 * 1024;
/** Rows begin at multiples of it, so that slab and offset fit into 32 bits. */
const ALIGNMENT = 8;
const OFFSET_BITS = 15;
const SLABS_MAX = 1 << (32 - OFFSET_BITS - 1);

/**
 * Rows without their vectors, by document, in slabs that are filled one after the other and dropped oldest first. What
 * was handed out stays valid: a dropped slab is left to the garbage collector, never written again.
 */
export class RowCache {
  readonly #slabsMax: number;
  /** Slab number (modulo the ring) and offset, plus 1; 0: not here. */
  #places = new Uint32Array(256);
  readonly #slabs: (Slab | undefined)[] = [];
  #current = -1;
  #used = SLAB_BYTES;

  /** `bytesMax` is rounded down to whole slabs of 256 KiB; below one slab nothing is kept. */
  constructor(bytesMax: number) {
    this.#slabsMax = Math.min(SLABS_MAX, Math.floor(bytesMax / SLAB_BYTES));
  }

  get memoryBytes(): number {
    return this.#slabs.length * SLAB_BYTES + this.#places.byteLength;
  }

  get(document: number): RowView | undefined {
    const place = this.#places[document] ?? 0;
    if (place === 0) return undefined;
    const slab = this.#slabs[(place - 1) >>> OFFSET_BITS];
    const start = ((place - 1) & ((1 << OFFSET_BITS) - 1)) * ALIGNMENT;
    const bytes = slab?.lengths.get(start);
    if (slab === undefined || bytes === undefined) return undefined;
    return RowView.of(slab.bytes.subarray(start, start + bytes));
  }

  put(document: number, row: RowView): void {
    const bytes = row.bytesWithoutVector;
    if (this.#slabsMax === 0 || bytes > SLAB_BYTES / 8) return;
    if (this.#used + bytes > SLAB_BYTES) this.#nextSlab();
    const slab = this.#slabs[this.#current];
    if (slab === undefined) return;
    const start = this.#used;
    row.withoutVector(slab.bytes.subarray(start, start + bytes));
    slab.lengths.set(start, bytes);
    slab.documents.push(document);
    if (document >= this.#places.length) this.#enlarge(document);
    this.#places[document] = ((this.#current << OFFSET_BITS) | (start / ALIGNMENT)) + 1;
    this.#used = start + Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
  }

  remove(document: number): void {
    if (document < this.#places.length) this.#places[document] = 0;
  }

  #nextSlab(): void {
    this.#current = (this.#current + 1) % this.#slabsMax;
    for (const document of this.#slabs[this.#current]?.documents ?? []) {
      const place = this.#places[document] ?? 0;
      if (place !== 0 && (place - 1) >>> OFFSET_BITS === this.#current) this.#places[document] = 0;
    }
    this.#slabs[this.#current] = { bytes: Buffer.alloc(SLAB_BYTES), lengths: new Map(), documents: [] };
    this.#used = 0;
  }

  #enlarge(document: number): void {
    const places = new Uint32Array(Math.max(this.#places.length * 2, document + 1));
    places.set(this.#places);
    this.#places = places;
  }
}

interface Slab {
  readonly bytes: Buffer;
  readonly lengths: Map<number, number>;
  readonly documents: number[];
}
