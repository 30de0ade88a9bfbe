/**
 * The results in the order of the items; at most `atOnce` are worked on at a time. Rejects with the first failure, and
 * begins nothing after it.
 */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results = new Array<Result>(items.length);
  const rest = [...items.entries()].reverse();
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const [place, item] = next;
      try {
        results[place] = await work(item);
      } catch (thrown) {
        rest.length = 0;
        throw thrown;
      }
    }
  });
  await Promise.all(workers);
  return results;
}
