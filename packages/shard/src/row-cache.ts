import { RowView } from "./row.js";
import { type RowCacheBudget, SLAB_BYTES, type SlabOwner } from "./row-cache-budget.js";

/** Rows begin at multiples of it, so that slot and offset fit into 32 bits. */
const ALIGNMENT = 8;
const OFFSET_BITS = 13;
const SLOTS_MAX = 1 << (32 - OFFSET_BITS - 1);
const ROW_BYTES_MAX = SLAB_BYTES / 4;

interface Slab {
  readonly bytes: Buffer;
  used: number;
}

/**
 * Rows without their vectors, by document, in slabs that are filled one after the other and dropped oldest first. What
 * was handed out stays valid: a dropped slab is left to the garbage collector, never written again. Beside the rows it
 * takes 4 bytes a document.
 */
export class RowCache implements SlabOwner {
  readonly #budget: RowCacheBudget;
  /** Slot of the slab and offset in it, plus 1; 0: not here. */
  #places = new Uint32Array(0);
  readonly #slabs: (Slab | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  #current = -1;

  constructor(budget: RowCacheBudget) {
    this.#budget = budget;
  }

  get memoryBytes(): number {
    return (this.#slabs.length - this.#freeSlots.length) * SLAB_BYTES + this.#places.byteLength;
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
    if (bytes > ROW_BYTES_MAX) return;
    const slab = this.#slabFor(bytes);
    if (slab === undefined) return;
    const start = slab.used;
    row.withoutVector(slab.bytes.subarray(start, start + bytes));
    slab.used = aligned(start + bytes);
    if (document >= this.#places.length) this.#enlarge(document);
    this.#places[document] = ((this.#current << OFFSET_BITS) | (start / ALIGNMENT)) + 1;
  }

  remove(document: number): void {
    if (document < this.#places.length) this.#places[document] = 0;
  }

  evict(slot: number): void {
    const slab = this.#slabs[slot];
    if (slab === undefined) return;
    for (let at = 0; at < slab.used; at = aligned(RowView.endWithoutVector(slab.bytes, at))) {
      const document = RowView.documentAt(slab.bytes, at);
      const place = this.#places[document] ?? 0;
      if (place !== 0 && (place - 1) >>> OFFSET_BITS === slot) this.#places[document] = 0;
    }
    this.#slabs[slot] = undefined;
    this.#freeSlots.push(slot);
  }

  /** Gives all memory back. */
  clear(): void {
    this.#budget.release(this);
    this.#places = new Uint32Array(0);
    this.#slabs.length = 0;
    this.#freeSlots.length = 0;
    this.#current = -1;
  }

  #slabFor(bytes: number): Slab | undefined {
    const current = this.#slabs[this.#current];
    if (current !== undefined && current.used + bytes <= SLAB_BYTES) return current;
    const slot = this.#freeSlots.pop() ?? this.#slabs.length;
    if (slot >= SLOTS_MAX) return undefined;
    // May evict one of this cache's own slabs, never this slot: it has none yet.
    if (!this.#budget.admit(this, slot)) return undefined;
    const next: Slab = { bytes: Buffer.alloc(SLAB_BYTES), used: 0 };
    this.#slabs[slot] = next;
    this.#current = slot;
    return next;
  }

  #enlarge(document: number): void {
    const places = new Uint32Array(Math.max(this.#places.length * 2, document + 1, 256));
    places.set(this.#places);
    this.#places = places;
  }
}

function aligned(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}
