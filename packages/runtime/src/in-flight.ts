const PLACE_BITS = 20;
const PLACE_MASK = 2 ** PLACE_BITS - 1;
/** A number has 31 bits: V8 keeps it without a heap object. */
const GENERATIONS = 2 ** (31 - PLACE_BITS);

/** So many may be under way at once. */
export const IN_FLIGHT_MAX = 2 ** PLACE_BITS;

/** The end of the list of free places. */
const NONE = -1;

/** So many places are made before one is used again. */
const PLACES_MIN = 1_024;

/**
 * What is under way, by a number that it gets: requests, searches. A number is positive, has 31 bits, and comes again after
 * two million others at the earliest.
 *
 * Not a Map or a Set: when V8 makes a new table for one, which add and delete do all the time, the old table keeps what
 * was in it and leads to the new one. Once an old table has lived long enough to be in the old generation, everything
 * that was ever in a later one when that was replaced lives until the next full collection, with all that hangs on it.
 */
export class InFlight<T extends object> implements Iterable<readonly [number: number, item: T]> {
  /** By place. */
  readonly #items: (T | undefined)[] = [];
  /** The number of what has the place, or of what had it last. */
  readonly #numbers: number[] = [];
  /** Of a free place: the one that was freed after it. */
  readonly #nextFree: number[] = [];
  #firstFree = NONE;
  #lastFree = NONE;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns its number. Throws a RangeError when `IN_FLIGHT_MAX` are under way. */
  add(item: T): number {
    const place = this.#takePlace();
    const generation = ((this.#numbers[place] ?? 0) >>> PLACE_BITS) + 1;
    // Never 0, which protocols use for "none".
    const number = ((generation < GENERATIONS ? generation : 1) << PLACE_BITS) | place;
    this.#numbers[place] = number;
    this.#items[place] = item;
    this.#size++;
    return number;
  }

  get(number: number): T | undefined {
    const place = number & PLACE_MASK;
    return this.#numbers[place] === number ? this.#items[place] : undefined;
  }

  /** Whether it was there. */
  remove(number: number): boolean {
    const place = number & PLACE_MASK;
    if (this.get(number) === undefined) return false;
    this.#items[place] = undefined;
    this.#nextFree[place] = NONE;
    if (this.#firstFree === NONE) this.#firstFree = place;
    else this.#nextFree[this.#lastFree] = place;
    this.#lastFree = place;
    this.#size--;
    return true;
  }

  clear(): void {
    for (const [number] of this) this.remove(number);
  }

  /** In no particular order. Items may be removed meanwhile; whether one is met that is added meanwhile is left open. */
  *[Symbol.iterator](): IterableIterator<readonly [number: number, item: T]> {
    for (let place = 0; place < this.#items.length; place++) {
      const item = this.#items[place];
      if (item !== undefined) yield [this.#numbers[place] ?? 0, item];
    }
  }

  #takePlace(): number {
    const free = this.#firstFree;
    if (free !== NONE && this.#items.length >= PLACES_MIN) {
      this.#firstFree = this.#nextFree[free] ?? NONE;
      return free;
    }
    const place = this.#items.length;
    if (place >= IN_FLIGHT_MAX) throw new RangeError(`${IN_FLIGHT_MAX} are under way`);
    this.#items.push(undefined);
    this.#numbers.push(0);
    this.#nextFree.push(NONE);
    return place;
  }
}
