/** Whole numbers below a bound, the same ones for the same seed (xorshift32). */
export function randomBelow(seed: number): (below: number) => number {
  let state = seed | 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * below);
  };
}
