/**
 * The nearest-rank percentile: the smallest value that at least `share` (0 to 1) of the values do not exceed.
 * `sorted` is ascending. NaN when it is empty.
 */
export function percentile(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  const rank = Math.ceil(share * sorted.length);
  return sorted[Math.min(Math.max(rank, 1), sorted.length) - 1] as number;
}
