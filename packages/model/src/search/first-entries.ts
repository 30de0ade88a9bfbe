/** Keeps the first entries of many in the order of `compare`, as a heap with the last of them on top. */
export class FirstEntries<Entry> {
  readonly #limit: number;
  readonly #compare: (a: Entry, b: Entry) => number;
  readonly #heap: Entry[] = [];

  /** `limit`: so many are kept, from 0; it may be infinite. */
  constructor(limit: number, compare: (a: Entry, b: Entry) => number) {
    this.#limit = limit;
    this.#compare = compare;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** The entry that goes out, when there is one: `entry` itself, or one that was kept before. */
  add(entry: Entry): Entry | undefined {
    const [last] = this.#heap;
    if (this.#heap.length < this.#limit) {
      this.#rise(entry);
      return undefined;
    }
    if (last === undefined || this.#compare(entry, last) >= 0) return entry;
    this.#sink(entry);
    return last;
  }

  /** Takes out the last one of those that are still kept. */
  takeLast(): Entry | undefined {
    const [last] = this.#heap;
    const moved = this.#heap.pop();
    if (moved !== undefined && this.#heap.length > 0) this.#sink(moved);
    return last;
  }

  #rise(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heap[above];
      if (other === undefined || this.#compare(other, entry) >= 0) break;
      heap[at] = other;
      at = above;
    }
    heap[at] = entry;
  }

  /** Puts `entry` in the place of the top. */
  #sink(entry: Entry): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      let other = heap[below];
      if (other === undefined) break;
      const sibling = heap[below + 1];
      if (sibling !== undefined && this.#compare(sibling, other) > 0) {
        other = sibling;
        below++;
      }
      if (this.#compare(entry, other) >= 0) break;
      heap[at] = other;
      at = below;
    }
    heap[at] = entry;
  }
}
