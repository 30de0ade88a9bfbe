/** Uniform numbers in [0, 1) that depend on the seed only (mulberry32, public domain, by Tommy Ettinger). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A uuid out of `random`. */
export function randomId(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A vector whose members are roughly normally distributed, rounded to float32. */
export function randomVector(random: () => number, dimensions: number): number[] {
  return Array.from({ length: dimensions }, () => Math.fround(random() + random() + random() - 1.5));
}

/** A seed for this run; SEED repeats one. Print it. */
export function runSeed(): number {
  return process.env.SEED === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(process.env.SEED);
}
