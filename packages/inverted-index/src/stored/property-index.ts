import { type IndexedProperty, isPresentByColumn } from "../analysis/property-kind.js";
import { ColumnImage } from "../images/column-image.js";
import { FlagImage } from "../images/flag-image.js";
import { PlaceImage } from "../images/place-image.js";
import { TermImage } from "../images/term-image.js";
import type { IndexStore } from "./index-store.js";
import { PropertyColumn } from "./property-column.js";
import { PropertyPostings } from "./property-postings.js";

export type TermPostings = PropertyPostings<TermImage>;
export type NumberColumn = PropertyColumn<ColumnImage>;

/** All that the index has of one property; parts that its kind does not need are undefined. */
export class PropertyIndex {
  readonly property: IndexedProperty;
  readonly flags: PropertyPostings<FlagImage> | undefined;
  readonly tokens: TermPostings | undefined;
  readonly longTokens: TermPostings | undefined;
  readonly wholes: TermPostings | undefined;
  readonly targets: TermPostings | undefined;
  /** Numbers, milliseconds of dates, 0 and 1 of lists of booleans, how many references there are. */
  readonly numbers: NumberColumn | undefined;
  readonly places: PropertyColumn<PlaceImage> | undefined;

  /** `isNew`: the store has nothing of it. */
  constructor(store: IndexStore, property: IndexedProperty, isNew: boolean) {
    const { name, kind } = property;
    this.property = property;
    if (kind === "none") return;
    const terms = (which: "token" | "longToken" | "whole" | "target") =>
      new PropertyPostings<TermImage>(
        store,
        name,
        which,
        isNew,
        () => new TermImage(),
        (image, all) => image.loaded(all),
      );
    // Of dates: which of them are local.
    if (!isPresentByColumn(property) || kind === "date") {
      this.flags = new PropertyPostings(store, name, "flag", isNew, () => new FlagImage());
    }
    if (kind === "text") {
      this.tokens = terms("token");
      this.longTokens = terms("longToken");
      this.wholes = terms("whole");
    }
    if (kind === "reference") this.targets = terms("target");
    if (kind === "number" || kind === "date" || kind === "reference" || (kind === "boolean" && property.isArray)) {
      this.numbers = new PropertyColumn(store, name, isNew, () => new ColumnImage());
    }
    if (kind === "geo") this.places = new PropertyColumn(store, name, isNew, () => new PlaceImage());
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
