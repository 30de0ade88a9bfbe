/**
 * All ids cut into `count` ranges (1 to 256) of about the same size: where each begins, exclusive, and ends, inclusive;
 * empty where there is no bound.
 */
export function idRanges(count: number): readonly { readonly after: string; readonly upTo: string }[] {
  const bounds = Array.from({ length: count - 1 }, (_, at) => lastBefore(Math.floor(((at + 1) * 256) / count)));
  return [...bounds, ""].map((upTo, at) => ({ after: at === 0 ? "" : (bounds[at - 1] ?? ""), upTo }));
}

/** The last id before those that begin with this byte. */
function lastBefore(firstByte: number): string {
  return `${(firstByte - 1).toString(16).padStart(2, "0")}ffffff-ffff-ffff-ffff-ffffffffffff`;
}
