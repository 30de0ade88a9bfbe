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
  // Lists are few, and mostly longer together than the page: what is behind it is never compared.
  const next = lists.map(() => 0);
  const merged: T[] = [];
  for (let place = 0; place < offset + limit; place++) {
    let from = -1;
    let least: T | undefined;
    for (let list = 0; list < lists.length; list++) {
      const head = lists[list]?.[next[list] ?? 0];
      if (head === undefined || (least !== undefined && compare(least, head) <= 0)) continue;
      from = list;
      least = head;
    }
    if (least === undefined) break;
    next[from] = (next[from] ?? 0) + 1;
    if (place >= offset) merged.push(least);
  }
  return merged;
}
