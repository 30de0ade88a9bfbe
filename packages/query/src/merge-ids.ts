import type { ObjectId } from "@shoal/model";
import type { Yielder } from "@shoal/runtime";

/** Comparisons and copies between two checks whether to yield. */
const BLOCK_IDS = 4096;

/** Ascending lists without doubles as one such list; of two lists at a time, so that each id moves log2(lists) times. */
export async function mergeIds(
  lists: readonly (readonly ObjectId[])[],
  yielder: Yielder,
): Promise<readonly ObjectId[]> {
  let rest = lists.filter((list) => list.length > 0);
  while (rest.length > 1) {
    const merged: (readonly ObjectId[])[] = [];
    for (let at = 0; at < rest.length; at += 2) {
      const [a = [], b] = [rest[at], rest[at + 1]];
      merged.push(b === undefined ? a : await mergeTwo(a, b, yielder));
    }
    rest = merged;
  }
  return rest[0] ?? [];
}

async function mergeTwo(
  a: readonly ObjectId[],
  b: readonly ObjectId[],
  yielder: Yielder,
): Promise<readonly ObjectId[]> {
  const merged: ObjectId[] = [];
  let atA = 0;
  let atB = 0;
  let nextLook = BLOCK_IDS;
  for (;;) {
    const idA = a[atA];
    const idB = b[atB];
    if (idA === undefined && idB === undefined) return merged;
    if (idB === undefined || (idA !== undefined && idA <= idB)) {
      if (idA !== undefined) merged.push(idA);
      atA += 1;
      if (idA === idB) atB += 1;
    } else {
      merged.push(idB);
      atB += 1;
    }
    if (merged.length < nextLook) continue;
    nextLook += BLOCK_IDS;
    yielder.count(BLOCK_IDS);
    if (yielder.isDue) await yielder.next();
  }
}
