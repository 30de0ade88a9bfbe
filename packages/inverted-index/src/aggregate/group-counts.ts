import {
  bytesOfText,
  compareUtf8,
  DISTINCT_NUMBER_BYTES,
  FirstEntries,
  GROUP_BYTES,
  GROUP_PROPERTY_BYTES,
  groupText,
  type ShardAggregation,
} from "@shoal/model";
import type { Work } from "@shoal/runtime";
import type { AggregateScope } from "./aggregate-source.js";
import { distinctNumbers } from "./distinct-numbers.js";
import type { Group, GroupValue } from "./groups.js";
import { NumberList } from "./number-list.js";

const GROUP_STEPS = 200;

/** The groups that are answered: the largest when no other shard has a say, else all. */
export class ChosenGroups {
  readonly #scope: AggregateScope;
  readonly #largest: FirstEntries<CountedGroup> | undefined;
  readonly #all: Group[] = [];
  readonly #bytes: number;

  constructor(scope: AggregateScope, { properties, isWhole, groupsMax }: ShardAggregation) {
    this.#scope = scope;
    this.#bytes = GROUP_BYTES + properties.length * GROUP_PROPERTY_BYTES;
    if (isWhole) this.#largest = new FirstEntries(groupsMax, largestFirst);
  }

  offer(value: GroupValue, objectCount: number): void {
    if (objectCount === 0) return;
    const group = new CountedGroup(value, objectCount);
    if (this.#largest === undefined) this.#all.push(group);
    else if (this.#largest.add(group) !== undefined) return;
    this.#scope.held.add(this.#bytes);
    if (typeof value === "string") this.#scope.held.add(2 * value.length);
  }

  *finish(): Work<readonly Group[]> {
    const { yielder } = this.#scope;
    for (let last = this.#largest?.takeLast(); last !== undefined; last = this.#largest?.takeLast()) {
      this.#all.push(last);
      yielder.count(GROUP_STEPS);
      if (yielder.isDue) yield yielder.pause();
    }
    return this.#all;
  }
}

/** Knows its text once it was needed: most groups may be equally large. */
class CountedGroup implements Group {
  #text: string | undefined;

  constructor(
    readonly value: GroupValue,
    readonly objectCount: number,
  ) {}

  get text(): string {
    this.#text ??= groupText(this.value);
    return this.#text;
  }
}

function largestFirst(a: CountedGroup, b: CountedGroup): number {
  return b.objectCount - a.objectCount || compareUtf8(a.text, b.text);
}

/** Counts how many documents have each value, when they come document by document. */
export class ValueCounter {
  readonly #scope: AggregateScope;
  readonly #numbers = new NumberList();
  readonly #texts = new Map<string, number>();

  constructor(scope: AggregateScope) {
    this.#scope = scope;
  }

  /** Once a document. */
  addNumber(value: number): void {
    this.#numbers.push(value);
    this.#scope.held.add(DISTINCT_NUMBER_BYTES);
  }

  /** Once a document. */
  addText(value: string): void {
    const count = this.#texts.get(value);
    if (count === undefined) this.#scope.held.add(bytesOfText(value));
    this.#texts.set(value, 1 + (count ?? 0));
  }

  *each(visit: (value: number | string, count: number) => void): Work<void> {
    const { yielder } = this.#scope;
    const { values, counts } = yield* distinctNumbers(this.#numbers.values, yielder);
    for (let at = 0; at < values.length; at++) {
      visit(values[at] ?? 0, counts[at] ?? 0);
      yielder.count(GROUP_STEPS);
      if (yielder.isDue) yield yielder.pause();
    }
    for (const [value, count] of this.#texts) {
      visit(value, count);
      yielder.count(GROUP_STEPS);
      if (yielder.isDue) yield yielder.pause();
    }
  }
}
