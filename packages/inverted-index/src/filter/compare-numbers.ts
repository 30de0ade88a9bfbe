import type { Work, Yielder } from "@shoal/runtime";
import type { CachedColumn } from "../cached/cached-column.js";
import { type Interval, isWithin } from "../cached/interval.js";
import { DocumentSet } from "../document-set.js";
import type { NumberTest } from "./intervals.js";

/** Looking at one document costs as much as so many entries of a sorted block. */
const LOOK_COST = 2;
/** Words of documents that are looked at between two looks at the clock. */
const STEP_WORDS = 4096;

/** The documents of a column with values that pass the test. */
export function* selectNumbers(
  column: CachedColumn,
  test: NumberTest,
  within: DocumentSet | undefined,
  yielder: Yielder,
): Work<DocumentSet> {
  let selected: DocumentSet | undefined;
  for (const interval of test.intervals) {
    const some = yield* selectInterval(column, interval, within, yielder);
    if (selected === undefined) selected = some;
    else if (test.all) selected.and(some);
    else selected.or(some);
  }
  return selected ?? new DocumentSet();
}

function* selectInterval(
  column: CachedColumn,
  interval: Interval,
  within: DocumentSet | undefined,
  yielder: Yielder,
): Work<DocumentSet> {
  const set = new DocumentSet(column.documentLimit);
  if (within !== undefined && isCheaper(column, interval, within)) {
    for (let start = 0; start < within.words.length; start += STEP_WORDS) {
      column.selectOf(within, start, start + STEP_WORDS, interval, set);
      yielder.count(STEP_WORDS * 32);
      if (yielder.isDue) yield yielder.pause();
    }
    return set;
  }
  for (let block = 0; block < column.blockCount; block++) {
    yielder.count(column.selectBlock(block, interval, set));
    if (yielder.isDue) yield yielder.pause();
  }
  return set;
}

/** Whether to look at each of the documents instead of selecting all that have such a value. */
function isCheaper(column: CachedColumn, interval: Interval, within: DocumentSet): boolean {
  let selected = 0;
  for (let block = 0; block < column.blockCount; block++) selected += column.countBlock(block, interval);
  return within.size * LOOK_COST <= selected;
}

/**
 * The documents whose number of references passes the test. A document without the property has none of them, 0.
 * `all`: every document that there is.
 */
export function* selectCounts(
  column: CachedColumn,
  test: NumberTest,
  all: DocumentSet,
  yielder: Yielder,
): Work<DocumentSet> {
  const selected = yield* selectNumbers(column, test, undefined, yielder);
  const matches = (interval: Interval) => isWithin(interval, 0, 0);
  const zero = test.all ? test.intervals.every(matches) : test.intervals.some(matches);
  return zero ? selected.or(all.copy().andNot(column.present)) : selected;
}
