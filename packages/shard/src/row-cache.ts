import { RowView } from "./row.js";

const SLAB_BYTES = 256 * 1024;
/** Rows begin at multiples of it, so that slab and offset fit into 32 bits. */
const ALIGNMENT = 8;
const OFFSET_BITS = 15;
const SLABS_MAX = 1 << (32 - OFFSET_BITS - 1);

interface Slab {
  readonly bytes: Buffer;
  used: number;
}

/**
 * Rows without their vectors, by document, in slabs that are filled one after the other and dropped oldest first. What
 * was handed out stays valid: a dropped slab is left to the garbage collector, never written again. Beside the rows it
 * takes 4 bytes a document.
 */
export class RowCache {
  readonly #slabsMax: number;
  /** Slab number (modulo the ring) and offset, plus 1; 0: not here. */
  #places = new Uint32Array(256);
  readonly #slabs: Slab[] = [];
  #current = -1;

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
    if (slab === undefined) return undefined;
    const start = ((place - 1) & ((1 << OFFSET_BITS) - 1)) * ALIGNMENT;
    return RowView.of(slab.bytes.subarray(start, RowView.endWithoutVector(slab.bytes, start)));
  }

  put(document: number, row: RowView): void {
    const bytes = row.bytesWithoutVector;
    if (this.#slabsMax === 0 || bytes > SLAB_BYTES / 8) return;
    const slab = this.#slabFor(bytes);
    const start = slab.used;
    row.withoutVector(slab.bytes.subarray(start, start + bytes));
    slab.used = aligned(start + bytes);
    if (document >= this.#places.length) this.#enlarge(document);
    this.#places[document] = ((this.#current << OFFSET_BITS) | (start / ALIGNMENT)) + 1;
  }

  remove(document: number): void {
    if (document < this.#places.length) this.#places[document] = 0;
  }

  #slabFor(bytes: number): Slab {
    const current = this.#slabs[this.#current];
    if (current !== undefined && current.used + bytes <= SLAB_BYTES) return current;
    this.#current = (this.#current + 1) % this.#slabsMax;
    const oldest = this.#slabs[this.#current];
    if (oldest !== undefined) this.#forget(oldest);
    const next: Slab = { bytes: Buffer.alloc(SLAB_BYTES), used: 0 };
    this.#slabs[this.#current] = next;
    return next;
  }

  #forget(slab: Slab): void {
    for (let at = 0; at < slab.used; at = aligned(RowView.endWithoutVector(slab.bytes, at))) {
      const document = RowView.documentAt(slab.bytes, at);
      const place = this.#places[document] ?? 0;
      if (place !== 0 && (place - 1) >>> OFFSET_BITS === this.#current) this.#places[document] = 0;
    }
  }

  #enlarge(document: number): void {
    const places = new Uint32Array(Math.max(this.#places.length * 2, document + 1));
    places.set(this.#places);
    this.#places = places;
  }
}

function aligned(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}
