/** How many of the `exact` neighbours are among the `found`, 0 to 1, over all of the exact ones. 1 when there is none. */
export function recallOf<Id>(found: Iterable<Id>, exact: readonly Id[]): number {
  if (exact.length === 0) return 1;
  const answered = new Set(found);
  return exact.filter((id) => answered.has(id)).length / exact.length;
}
