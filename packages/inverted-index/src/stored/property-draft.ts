import type { KeyValueChange } from "@shoal/kv";
import type { Work, Yielder } from "@shoal/runtime";
import type { Analysis } from "../analysis/analyse-value.js";
import { FLAG_NAMES, flagBit, termOfFlag } from "../analysis/flags.js";
import { type ColumnValue, isSameColumnValue } from "../records/column-chunk.js";
import { ColumnDraft, type DraftedColumn } from "./column-draft.js";
import type { NeededRecords } from "./index-store.js";
import { type DraftedPostings, PostingDraft } from "./posting-draft.js";
import type { PropertyIndex } from "./property-index.js";

const FLAG_TERMS = FLAG_NAMES.map((flag) => ({ bit: flagBit(flag), term: termOfFlag(flag) }));
const NONE: readonly string[] = [];
/** Steps that one term in a set and in a draft takes. */
const TERM_STEPS = 150;

/** What a commit changes in the index of one property. */
export class PropertyDraft {
  readonly #index: PropertyIndex;
  readonly #postings = new Map<DraftedPostings, PostingDraft>();
  #column: ColumnDraft | undefined;

  constructor(index: PropertyIndex) {
    this.#index = index;
  }

  /** A document's value before and after; undefined: there is none. */
  change(document: number, before: Analysis | undefined, after: Analysis | undefined): void {
    const { flags, tokens, longTokens, wholes, targets, numbers, places } = this.#index;
    const flagsBefore = before?.flags ?? 0;
    const flagsAfter = after?.flags ?? 0;
    if (flags !== undefined && flagsBefore !== flagsAfter) this.#flags(flags, document, flagsBefore, flagsAfter);
    this.#terms(tokens, document, before?.tokens, after?.tokens);
    this.#terms(longTokens, document, before?.longTokens, after?.longTokens);
    this.#terms(wholes, document, before?.wholes, after?.wholes);
    this.#terms(targets, document, before?.targets, after?.targets);
    const column = numbers ?? places;
    if (column !== undefined) this.setColumn(column, document, before?.column, after?.column);
  }

  /** As {@link change}, for values with many terms. */
  *changeInSteps(
    document: number,
    before: Analysis | undefined,
    after: Analysis | undefined,
    yielder: Yielder,
  ): Work<void> {
    const { tokens, longTokens, wholes, targets } = this.#index;
    this.change(document, withoutTerms(before), withoutTerms(after));
    yield* this.#termsInSteps(tokens, document, before?.tokens, after?.tokens, yielder);
    yield* this.#termsInSteps(longTokens, document, before?.longTokens, after?.longTokens, yielder);
    yield* this.#termsInSteps(wholes, document, before?.wholes, after?.wholes, yielder);
    yield* this.#termsInSteps(targets, document, before?.targets, after?.targets, yielder);
  }

  *#termsInSteps(
    postings: DraftedPostings | undefined,
    document: number,
    before: readonly string[] = NONE,
    after: readonly string[] = NONE,
    yielder: Yielder,
  ): Work<void> {
    if (postings === undefined || (before.length === 0 && after.length === 0)) return;
    const draft = this.#draft(postings);
    // What all goes needs no set.
    const gone: Set<string> | undefined = after.length === 0 ? undefined : new Set();
    for (const term of before) {
      if (gone === undefined) draft.remove(term, document);
      else gone.add(term);
      yielder.count(TERM_STEPS);
      if (yielder.isDue) yield yielder.pause();
    }
    for (const term of after) {
      if (gone?.delete(term) !== true) draft.add(term, document);
      yielder.count(TERM_STEPS);
      if (yielder.isDue) yield yielder.pause();
    }
    for (const term of gone ?? NONE) {
      draft.remove(term, document);
      yielder.count(TERM_STEPS);
      if (yielder.isDue) yield yielder.pause();
    }
  }

  setColumn(
    column: DraftedColumn,
    document: number,
    before: ColumnValue | undefined,
    after: ColumnValue | undefined,
  ): void {
    if (isSameColumnValue(before, after)) return;
    this.#column ??= new ColumnDraft(column);
    this.#column.set(document, after);
  }

  #flags(postings: DraftedPostings, document: number, before: number, after: number): void {
    const draft = this.#draft(postings);
    for (const { bit, term } of FLAG_TERMS) {
      if ((before & bit) === (after & bit)) continue;
      if ((after & bit) === 0) draft.remove(term, document);
      else draft.add(term, document);
    }
  }

  #terms(
    postings: DraftedPostings | undefined,
    document: number,
    before: readonly string[] = NONE,
    after: readonly string[] = NONE,
  ): void {
    if (postings === undefined || (before.length === 0 && after.length === 0)) return;
    const draft = this.#draft(postings);
    const gone = before.length === 0 ? undefined : new Set(before);
    for (const term of after) if (gone?.delete(term) !== true) draft.add(term, document);
    if (gone !== undefined) for (const term of gone) draft.remove(term, document);
  }

  #draft(postings: DraftedPostings): PostingDraft {
    const known = this.#postings.get(postings);
    if (known !== undefined) return known;
    const draft = new PostingDraft(postings);
    this.#postings.set(postings, draft);
    return draft;
  }

  *needs(yielder: Yielder): Work<readonly NeededRecords[]> {
    const needed = [this.#column?.needs()];
    for (const draft of this.#postings.values()) needed.push(yield* draft.needs(yielder));
    return needed.filter((each) => each !== undefined);
  }

  /** How many records of postings it changes. */
  get postings(): number {
    let count = 0;
    for (const draft of this.#postings.values()) count += draft.size;
    return count;
  }

  /** Adds the records to the batch, and to `steps` what changes memory once they are durable. `isLarge`: as of a posting draft. */
  *finish(batch: KeyValueChange[], steps: (() => void)[], isLarge: boolean, yielder: Yielder): Work<void> {
    for (const draft of this.#postings.values()) steps.push(yield* draft.finish(batch, isLarge, yielder));
    if (this.#column !== undefined) steps.push(this.#column.finish(batch));
  }
}

function withoutTerms(analysis: Analysis | undefined): Analysis | undefined {
  return analysis && { ...analysis, tokens: NONE, longTokens: NONE, wholes: NONE, targets: NONE };
}
