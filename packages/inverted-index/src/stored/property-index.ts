import { type IndexedProperty, isPresentByColumn } from "../analysis/property-kind.js";
import { CachedColumn } from "../cached/cached-column.js";
import { CachedFlag } from "../cached/cached-flag.js";
import { CachedPlace } from "../cached/cached-place.js";
import { CachedTerm } from "../cached/cached-term.js";
import type { IndexStore } from "./index-store.js";
import { PropertyColumn } from "./property-column.js";
import { PropertyPostings } from "./property-postings.js";

export type TermPostings = PropertyPostings<CachedTerm>;
export type NumberColumn = PropertyColumn<CachedColumn>;

/** All that the index has of one property; parts that its kind does not need are undefined. */
export class PropertyIndex {
  readonly property: IndexedProperty;
  readonly flags: PropertyPostings<CachedFlag> | undefined;
  readonly tokens: TermPostings | undefined;
  readonly longTokens: TermPostings | undefined;
  readonly wholes: TermPostings | undefined;
  readonly targets: TermPostings | undefined;
  /** Numbers, milliseconds of dates, 0 and 1 of lists of booleans, how many references there are. */
  readonly numbers: NumberColumn | undefined;
  readonly places: PropertyColumn<CachedPlace> | undefined;

  /** `isNew`: the store has nothing of it. */
  constructor(store: IndexStore, property: IndexedProperty, isNew: boolean) {
    const { name, kind } = property;
    this.property = property;
    if (kind === "none") return;
    const terms = (which: "token" | "longToken" | "whole" | "target") =>
      new PropertyPostings<CachedTerm>(
        store,
        name,
        which,
        isNew,
        () => new CachedTerm(),
        (cached, all) => cached.loaded(all),
      );
    // Of dates: which of them are local.
    if (!isPresentByColumn(property) || kind === "date") {
      this.flags = new PropertyPostings(store, name, "flag", isNew, () => new CachedFlag());
    }
    if (kind === "text") {
      this.tokens = terms("token");
      this.longTokens = terms("longToken");
      this.wholes = terms("whole");
    }
    if (kind === "reference") this.targets = terms("target");
    if (kind === "number" || kind === "date" || kind === "reference" || (kind === "boolean" && property.isArray)) {
      this.numbers = new PropertyColumn(store, name, isNew, () => new CachedColumn());
    }
    if (kind === "geo") this.places = new PropertyColumn(store, name, isNew, () => new CachedPlace());
  }

  /** Nothing in memory is believed any more. */
  forget(): void {
    for (const part of [this.flags, this.tokens, this.longTokens, this.wholes, this.targets]) part?.slot.forget();
    this.numbers?.slot.forget();
    this.places?.slot.forget();
  }

  get memoryBytes(): number {
    const postings = [this.flags, this.tokens, this.longTokens, this.wholes, this.targets];
    const columns = [this.numbers, this.places];
    return [...postings, ...columns].reduce((bytes, part) => bytes + (part?.slot.heldBytes ?? 0), 0);
  }
}
