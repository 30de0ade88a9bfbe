/** Milliseconds that never go back, whatever happens to the clock. */
export function monotonicMs(): number {
  return performance.now();
}
