/** Numbers from 0 up to 1, the same ones for the same seed. */
export function randomOf(seed: number): () => number {
  const next = words(seed);
  return () => next() / 2 ** 32;
}

/** Whole numbers below a bound, the same ones for the same seed. */
export function randomBelow(seed: number): (below: number) => number {
  const next = words(seed);
  return (below) => next() % below;
}

/** Words of 32 bits (mulberry32). */
function words(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
