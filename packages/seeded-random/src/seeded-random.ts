/** One stream of random choices. The members are functions of their own and may be taken apart. */
export interface SeededRandom {
  /** A number in [0, 1), a multiple of 2^-32. */
  readonly next: () => number;
  /** A whole number from 0 to below `bound`; beyond 2^32 not every one is reached. */
  readonly below: (bound: number) => number;
  /** True once in `count` draws, on average. */
  readonly oneIn: (count: number) => boolean;
  /** One of the values, of which there is one at least. */
  readonly pick: <Value>(values: readonly Value[]) => Value;
  /** From 0 to `most` values, each made again. */
  readonly list: <Value>(most: number, make: () => Value) => Value[];
  /** The values in another order, each of which is as likely. */
  readonly shuffled: <Value>(values: readonly Value[]) => Value[];
  readonly bytes: (count: number) => Uint8Array;
}

/** The same choices for the same seed, a whole number of 32 bits. */
export function seededRandom(seed: number): SeededRandom {
  const next = mulberry32(seed);
  const below = (bound: number): number => Math.floor(next() * bound);
  return {
    next,
    below,
    oneIn: (count) => below(count) === 0,
    pick: <Value>(values: readonly Value[]): Value => {
      if (values.length === 0) throw new Error("nothing to pick from");
      return values[below(values.length)] as Value;
    },
    list: (most, make) => Array.from({ length: below(most + 1) }, make),
    shuffled: (values) => shuffled(values, below),
    bytes: (count) => {
      const drawn = new Uint8Array(count);
      for (let at = 0; at < count; at++) drawn[at] = below(256);
      return drawn;
    },
  };
}

/** By Fisher and Yates. */
function shuffled<Value>(values: readonly Value[], below: (bound: number) => number): Value[] {
  const order = [...values];
  for (let left = order.length; left > 1; left--) {
    const other = below(left);
    const kept = order[left - 1] as Value;
    order[left - 1] = order[other] as Value;
    order[other] = kept;
  }
  return order;
}

/** Numbers in [0, 1): mulberry32 (Tommy Ettinger, 2017, public domain). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
