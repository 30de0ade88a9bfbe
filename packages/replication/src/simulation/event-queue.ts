/** What happens in virtual time: the earliest first, and in the order of `at` calls among equal times. */
export class EventQueue {
  now = 0;
  #count = 0;
  readonly #heap: { readonly at: number; readonly order: number; readonly run: () => void }[] = [];

  at(time: number, run: () => void): void {
    const heap = this.#heap;
    const entry = { at: Math.max(time, this.now), order: this.#count++, run };
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !isBefore(entry, above)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  /** False: nothing is left before `until`. */
  runNext(until: number): boolean {
    const heap = this.#heap;
    const [first] = heap;
    if (first === undefined || first.at > until) {
      this.now = Math.max(this.now, until);
      return false;
    }
    const last = heap.pop();
    if (last !== undefined && heap.length > 0) {
      let at = 0;
      for (;;) {
        let child = 2 * at + 1;
        const right = heap[child + 1];
        const left = heap[child];
        if (left === undefined) break;
        let next = left;
        if (right !== undefined && isBefore(right, left)) {
          child++;
          next = right;
        }
        if (!isBefore(next, last)) break;
        heap[at] = next;
        at = child;
      }
      heap[at] = last;
    }
    this.now = first.at;
    first.run();
    return true;
  }
}

interface Entry {
  readonly at: number;
  readonly order: number;
}

function isBefore(one: Entry, other: Entry): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order);
}
