import { compareDocuments, type OrderedWords, sortedById } from "./id-order.js";

/** Documents that are sorted, or merged, in one step: some milliseconds, cold or warm. */
export const STEP_DOCUMENTS = 16_384;

/**
 * As {@link sortedById}, a part in each step: `next` resolves in a later one. The words of the documents must stay meanwhile,
 * also of those whose objects go.
 */
export async function sortInSteps(
  words: OrderedWords,
  documents: Uint32Array,
  next: () => Promise<void>,
): Promise<Uint32Array> {
  if (documents.length <= STEP_DOCUMENTS) return sortedById(words, documents, documents.length);
  let from = new Uint32Array(documents.length);
  for (let start = 0; start < documents.length; start += STEP_DOCUMENTS) {
    const part = documents.subarray(start, start + STEP_DOCUMENTS);
    from.set(sortedById(words, part, part.length), start);
    await next();
  }
  let to = new Uint32Array(documents.length);
  for (let sorted = STEP_DOCUMENTS; sorted < documents.length; sorted *= 2) {
    let merged = 0;
    for (const step of mergePairs(words, from, to, sorted)) {
      merged += step;
      if (merged < STEP_DOCUMENTS) continue;
      merged = 0;
      await next();
    }
    [from, to] = [to, from];
  }
  return from;
}

/** Merges each two neighbouring runs of so many documents; yields how many were written since it last did. */
function* mergePairs(words: OrderedWords, from: Uint32Array, to: Uint32Array, run: number): Generator<number, void> {
  for (let start = 0; start < from.length; start += 2 * run) {
    const middle = Math.min(start + run, from.length);
    const end = Math.min(middle + run, from.length);
    let [left, right] = [start, middle];
    let counted = start;
    for (let at = start; at < end; at++) {
      const isLeft = left < middle && (right >= end || compareDocuments(words, from[left] ?? 0, from[right] ?? 0) <= 0);
      to[at] = (isLeft ? from[left++] : from[right++]) ?? 0;
      if (at - counted < STEP_DOCUMENTS) continue;
      yield at - counted;
      counted = at;
    }
    yield end - counted;
  }
}
