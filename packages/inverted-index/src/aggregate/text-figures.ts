import { type AggregatedProperty, bytesOfText, compareUtf8, FirstEntries, type PropertyPart } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import type { IndexedProperty } from "../analysis/property-kind.js";
import type { AggregateScope } from "./aggregate-source.js";
import { countMembers, EVERYTHING, type Groups, NO_GROUP } from "./groups.js";
import { type TextValue, TextValues } from "./text-values.js";

type TextsPart = Extract<PropertyPart, { kind: "texts" }>;

interface Occurrence {
  readonly value: string;
  readonly occurs: number;
}

/** Figures of a text property, one part a group. */
export function* textFigures(
  scope: AggregateScope,
  property: IndexedProperty,
  { topOccurrences = 0 }: AggregatedProperty,
  groups: Groups,
): Work<readonly PropertyPart[]> {
  if (topOccurrences === 0 && property.kind === "text" && !property.isArray)
    return yield* countPresent(scope, property, groups);
  const values = yield* TextValues.open(scope, property);
  const parts = Array.from({ length: groups.size }, () => new TextsOfGroup(scope, topOccurrences));
  if (groups === EVERYTHING) {
    const [part] = parts;
    yield* values.each((value) => part?.add(value.value, value.count()), false);
  } else {
    const tally = new GroupTally(groups);
    yield* values.each((value) => tally.take(value, parts), true);
  }
  const finished: TextsPart[] = [];
  for (const part of parts) finished.push(yield* part.finish(scope));
  return finished;
}

/** Every document that has the property has one value of it. */
function* countPresent(
  scope: AggregateScope,
  property: IndexedProperty,
  groups: Groups,
): Work<readonly PropertyPart[]> {
  const flags = yield* scope.source.flags(property);
  const counts = yield* countMembers(scope, groups, flags.documents("present"));
  return counts.map((count) => ({ kind: "texts", count, distinct: undefined }));
}

/** How often a value occurs in each group. */
class GroupTally {
  readonly #groups: Groups;
  readonly #counts: Float64Array;
  readonly #touched: number[] = [];

  constructor(groups: Groups) {
    this.#groups = groups;
    this.#counts = new Float64Array(groups.size);
  }

  take(value: TextValue, parts: readonly TextsOfGroup[]): void {
    value.each((document) => {
      const first = this.#groups.first(document);
      if (first === NO_GROUP) return;
      this.#add(first);
      const more = this.#groups.more(document);
      if (more !== undefined) for (const group of more) this.#add(group);
    });
    for (const group of this.#touched) {
      parts[group]?.add(value.value, this.#counts[group] ?? 0);
      this.#counts[group] = 0;
    }
    this.#touched.length = 0;
  }

  #add(group: number): void {
    const count = this.#counts[group] ?? 0;
    if (count === 0) this.#touched.push(group);
    this.#counts[group] = count + 1;
  }
}

/** The values of one group: all of them, or the most frequent when no other shard has a say. */
class TextsOfGroup {
  readonly #scope: AggregateScope;
  readonly #top: FirstEntries<Occurrence> | undefined;
  readonly #values: string[] = [];
  readonly #counts: number[] = [];
  readonly #isCounted: boolean;
  #count = 0;

  constructor(scope: AggregateScope, topOccurrences: number) {
    this.#scope = scope;
    this.#isCounted = topOccurrences > 0;
    if (scope.isWhole && this.#isCounted) this.#top = new FirstEntries(topOccurrences, mostFrequentFirst);
  }

  add(value: string, occurs: number): void {
    if (occurs === 0) return;
    this.#count += occurs;
    if (!this.#isCounted) return;
    if (this.#top === undefined) {
      this.#scope.held.add(bytesOfText(value));
      this.#values.push(value);
      this.#counts.push(occurs);
    } else if (this.#top.add({ value, occurs }) === undefined) this.#scope.held.add(bytesOfText(value));
  }

  *finish({ yielder }: AggregateScope): Work<TextsPart> {
    const [values, counts] = [this.#values, this.#counts];
    for (let last = this.#top?.takeLast(); last !== undefined; last = this.#top?.takeLast()) {
      values.push(last.value);
      counts.push(last.occurs);
      yielder.count(TAKE_STEPS);
      if (yielder.isDue) yield yielder.pause();
    }
    return { kind: "texts", count: this.#count, distinct: this.#isCounted ? { values, counts } : undefined };
  }
}

const TAKE_STEPS = 200;

function mostFrequentFirst(a: Occurrence, b: Occurrence): number {
  return b.occurs - a.occurs || compareUtf8(a.value, b.value);
}
