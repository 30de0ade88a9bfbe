/** A cache that gives slabs back. */
export interface SlabOwner {
  evict(slot: number): void;
}

interface Ticket {
  readonly owner: SlabOwner;
  readonly slot: number;
}

/** Bytes of a slab, the unit in which caches take memory. */
export const SLAB_BYTES = 64 * 1024;

/**
 * The memory that the row caches of any number of shards share. Who needs a slab gets one; when all are out, the one
 * that was taken longest ago goes, of whichever cache.
 */
export class RowCacheBudget {
  readonly #slabsMax: number;
  /** Oldest first. */
  readonly #tickets = new Set<Ticket>();

  /** Rounded down to whole slabs of 64 KiB; below one nothing is cached. */
  constructor(bytesMax: number) {
    this.#slabsMax = Math.floor(bytesMax / SLAB_BYTES);
  }

  get bytesMax(): number {
    return this.#slabsMax * SLAB_BYTES;
  }

  get usedBytes(): number {
    return this.#tickets.size * SLAB_BYTES;
  }

  /** Makes room for one slab; false when there can be none. */
  admit(owner: SlabOwner, slot: number): boolean {
    if (this.#slabsMax === 0) return false;
    if (this.#tickets.size >= this.#slabsMax) {
      for (const oldest of this.#tickets) {
        this.#tickets.delete(oldest);
        oldest.owner.evict(oldest.slot);
        break;
      }
    }
    this.#tickets.add({ owner, slot });
    return true;
  }

  /** Evicts all that `owner` has, without a notice. */
  release(owner: SlabOwner): void {
    for (const ticket of this.#tickets) if (ticket.owner === owner) this.#tickets.delete(ticket);
  }
}
