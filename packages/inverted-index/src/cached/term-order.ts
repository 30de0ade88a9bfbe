import { compareUtf8 } from "@shoal/model";
import { firstPlace, type Work, type Yielder } from "@shoal/runtime";

/** Terms that are new since the last merge are looked at one by one, up to so many. */
const FRESH_MAX = 512;
const RUN_TERMS = 2048;
/** Steps of {@link Yielder} that sorting a term takes, and merging one. */
const SORT_STEPS = 600;
const MERGE_STEPS = 100;

/**
 * The terms of a cached copy in the order of their UTF-8 bytes: a sorted list, and behind it those that have come since. Terms
 * that went stay in the list, and one that came back is in both: whoever walks asks the cached copy what a term has.
 */
export class TermOrder {
  readonly #all: () => Iterable<string>;
  #sorted: readonly string[] | undefined;
  #fresh: string[] = [];
  #underWay: Promise<void> | undefined;

  constructor(all: () => Iterable<string>, sorted?: readonly string[]) {
    this.#all = all;
    this.#sorted = sorted;
  }

  get bytes(): number {
    return ((this.#sorted?.length ?? 0) + this.#fresh.length) * 8;
  }

  added(term: string): void {
    this.#fresh.push(term);
  }

  /** The sorted list, not to be changed, and few more in no order. */
  *read(yielder: Yielder): Work<{ readonly sorted: readonly string[]; readonly fresh: readonly string[] }> {
    for (;;) {
      if (this.#sorted !== undefined && this.#fresh.length <= FRESH_MAX) {
        return { sorted: this.#sorted, fresh: this.#fresh };
      }
      if (this.#underWay === undefined) yield* this.#merge(yielder);
      else yield this.#underWay;
    }
  }

  *#merge(yielder: Yielder): Work<void> {
    let finished = () => {};
    this.#underWay = new Promise((resolve) => {
      finished = resolve;
    });
    const isFirst = this.#sorted === undefined;
    let taken = this.#fresh;
    try {
      this.#fresh = [];
      const added = yield* sortedTerms(isFirst ? this.#all() : taken, yielder);
      this.#sorted = isFirst ? added : yield* mergeTerms(this.#sorted ?? [], added, yielder);
      taken = [];
    } finally {
      // Whoever asked may be gone before it is done.
      if (taken.length > 0) this.#fresh = taken.concat(this.#fresh);
      this.#underWay = undefined;
      finished();
    }
  }
}

function* sortedTerms(terms: Iterable<string>, yielder: Yielder): Work<readonly string[]> {
  let runs: (readonly string[])[] = [];
  let run: string[] = [];
  for (const term of terms) {
    run.push(term);
    if (run.length < RUN_TERMS) continue;
    runs.push(run.sort(compareUtf8));
    run = [];
    yielder.count(RUN_TERMS * SORT_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
  runs.push(run.sort(compareUtf8));
  while (runs.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* mergeTerms(runs[at] ?? [], runs[at + 1] ?? [], yielder));
    runs = merged;
  }
  return runs[0] ?? [];
}

/** Without doubles. */
function* mergeTerms(first: readonly string[], second: readonly string[], yielder: Yielder): Work<readonly string[]> {
  if (second.length === 0) return first;
  const merged: string[] = [];
  let left = 0;
  let right = 0;
  while (left < first.length || right < second.length) {
    const order = compareNext(first[left], second[right]);
    merged.push((order <= 0 ? first[left] : second[right]) ?? "");
    if (order <= 0) left += 1;
    if (order >= 0) right += 1;
    yielder.count(MERGE_STEPS);
    if (yielder.isDue) yield yielder.pause();
  }
  return merged;
}

function compareNext(left: string | undefined, right: string | undefined): number {
  if (left === undefined) return 1;
  return right === undefined ? -1 : compareUtf8(left, right);
}

/** The first place whose term is not below `bound`. */
export function placeOf(sorted: readonly string[], bound: string): number {
  return firstPlace(sorted.length, (at) => compareUtf8(sorted[at] ?? "", bound) >= 0);
}
