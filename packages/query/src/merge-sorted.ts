/**
 * Merges lists that are each in ascending order of `compare` and returns the entries `offset` to `offset + limit` of the
 * whole. Equal entries keep the order of the lists.
 */
export function mergeSorted<T>(
  lists: readonly (readonly T[])[],
  compare: (a: T, b: T) => number,
  offset: number,
  limit: number,
): readonly T[] {
  const [only] = lists;
  if (only === undefined) return [];
  if (lists.length === 1) return offset === 0 && only.length <= limit ? only : only.slice(offset, offset + limit);
  const merged = lists.flat();
  // Runs that are sorted already: the engine's merge sort takes them as they are.
  merged.sort(compare);
  return merged.slice(offset, offset + limit);
}
