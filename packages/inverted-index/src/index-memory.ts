/** Something in memory that can be read again from the store. */
export interface Evictable {
  readonly heldBytes: number;
  evict(): void;
}

/** What the indexes of all shards of a process may keep in memory together: what was used longest ago goes first. */
export class IndexMemory {
  readonly bytesMax: number;
  /** With the bytes that were counted for each; used longest ago first. */
  readonly #held = new Map<Evictable, number>();
  #bytes = 0;
  #latest: Evictable | undefined;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get usedBytes(): number {
    return this.#bytes;
  }

  used(owner: Evictable): void {
    if (this.#latest === owner) return;
    const bytes = this.#held.get(owner);
    if (bytes === undefined) return;
    this.#held.delete(owner);
    this.#held.set(owner, bytes);
    this.#latest = owner;
  }

  /** The owner holds `heldBytes` now. Others go to make room, and the owner itself when there is none. */
  holds(owner: Evictable): void {
    const bytes = owner.heldBytes;
    this.#bytes += bytes - (this.#held.get(owner) ?? 0);
    this.#held.set(owner, bytes);
    if (this.#bytes <= this.bytesMax) return;
    const isTooLarge = bytes > this.bytesMax;
    for (const other of this.#held.keys()) {
      if (this.#bytes <= this.bytesMax) break;
      if (other !== owner && !isTooLarge) this.#evict(other);
    }
    if (this.#bytes > this.bytesMax) this.#evict(owner);
  }

  release(owner: Evictable): void {
    this.#bytes -= this.#held.get(owner) ?? 0;
    this.#held.delete(owner);
    if (this.#latest === owner) this.#latest = undefined;
  }

  #evict(owner: Evictable): void {
    this.release(owner);
    owner.evict();
  }
}
