import {
  type AggregatedProperty,
  compareUtf8,
  type DatesAggregate,
  ExactSum,
  FirstEntries,
  type NumbersAggregate,
  type PropertyAggregate,
  type PropertyPart,
  ShoalError,
  type TextsAggregate,
} from "@shoal/model";
import type { Yielder } from "@shoal/runtime";
import { medianAndMode } from "./distinct-numbers.js";

/** A look-up in a map of texts, in units of `queryYielder`. */
const TEXT_WORK = 5;

type PartOf<Kind extends PropertyPart["kind"]> = Extract<PropertyPart, { kind: Kind }>;

/** One property of one group over all shards. */
export async function mergeProperty(
  wanted: AggregatedProperty,
  kind: PropertyAggregate["kind"],
  parts: readonly PropertyPart[],
  yielder: Yielder,
): Promise<PropertyAggregate> {
  switch (kind) {
    case "numbers":
      return { kind, ...(await mergeNumbers(wanted.numbers, partsOf(kind, parts), yielder)) };
    case "texts":
      return { kind, ...(await mergeTexts(wanted.topOccurrences ?? 0, partsOf(kind, parts), yielder)) };
    case "booleans": {
      const booleans = partsOf(kind, parts);
      const totalTrue = booleans.reduce((sum, part) => sum + part.totalTrue, 0);
      const totalFalse = booleans.reduce((sum, part) => sum + part.totalFalse, 0);
      return { kind, count: totalTrue + totalFalse, totalTrue, totalFalse };
    }
    case "dates":
      return { kind, ...mergeDates(partsOf(kind, parts)) };
    case "references":
      return { kind, count: partsOf(kind, parts).reduce((sum, { count }) => sum + count, 0) };
  }
}

function partsOf<Kind extends PropertyPart["kind"]>(
  kind: Kind,
  parts: readonly PropertyPart[],
): readonly PartOf<Kind>[] {
  for (const part of parts) {
    if (part.kind !== kind)
      throw new ShoalError("internal", `a shard answers ${part.kind} where ${kind} were asked for`);
  }
  return parts as readonly PartOf<Kind>[];
}

async function mergeNumbers(
  hasFigures: boolean,
  parts: readonly PartOf<"numbers">[],
  yielder: Yielder,
): Promise<NumbersAggregate> {
  let count = 0;
  const sum = new ExactSum();
  let minimum: number | undefined;
  let maximum: number | undefined;
  for (const part of parts) {
    count += part.count;
    sum.addAll(part.sum);
    if (part.minimum !== undefined) minimum = Math.min(part.minimum, minimum ?? part.minimum);
    if (part.maximum !== undefined) maximum = Math.max(part.maximum, maximum ?? part.maximum);
  }
  const distinct = parts.flatMap((part) => part.distinct ?? []);
  const middle = distinct.length === 0 ? undefined : await medianAndMode(distinct, yielder);
  return {
    count,
    sum: sum.value(),
    minimum,
    maximum,
    mean: count === 0 || !hasFigures ? undefined : sum.mean(count),
    median: middle?.median,
    mode: middle?.mode,
  };
}

interface Occurrence {
  readonly value: string;
  readonly occurs: number;
}

function mostFrequentFirst(a: Occurrence, b: Occurrence): number {
  return b.occurs - a.occurs || compareUtf8(a.value, b.value);
}

async function mergeTexts(limit: number, parts: readonly PartOf<"texts">[], yielder: Yielder): Promise<TextsAggregate> {
  const count = parts.reduce((sum, part) => sum + part.count, 0);
  const distinct = parts.flatMap((part) => part.distinct ?? []);
  const top = new FirstEntries<Occurrence>(limit, mostFrequentFirst);
  const [only] = distinct;
  const entries = distinct.length === 1 && only !== undefined ? pairs(only) : await countAll(distinct, yielder);
  for (const [value, occurs] of entries) {
    top.add({ value, occurs });
    yielder.count(TEXT_WORK);
    if (yielder.isDue) await yielder.next();
  }
  return { count, topOccurrences: await inOrder(top, yielder) };
}

type Distinct = NonNullable<PartOf<"texts">["distinct"]>;

function* pairs({ values, counts }: Distinct): Iterable<readonly [string, number]> {
  for (const [at, value] of values.entries()) yield [value, counts[at] ?? 0];
}

async function countAll(parts: readonly Distinct[], yielder: Yielder): Promise<ReadonlyMap<string, number>> {
  const occurs = new Map<string, number>();
  for (const part of parts) {
    for (const [value, count] of pairs(part)) {
      occurs.set(value, count + (occurs.get(value) ?? 0));
      yielder.count(TEXT_WORK);
      if (yielder.isDue) await yielder.next();
    }
  }
  return occurs;
}

/** Takes out what is kept, first to last, in steps. */
export async function inOrder<Entry>(first: FirstEntries<Entry>, yielder: Yielder): Promise<readonly Entry[]> {
  const backwards: Entry[] = [];
  for (let last = first.takeLast(); last !== undefined; last = first.takeLast()) {
    backwards.push(last);
    yielder.count(TEXT_WORK * Math.log2(first.size + 2));
    if (yielder.isDue) await yielder.next();
  }
  return backwards.reverse();
}

function mergeDates(parts: readonly PartOf<"dates">[]): DatesAggregate {
  let count = 0;
  let minimum: PartOf<"dates">["minimum"];
  let maximum: PartOf<"dates">["maximum"];
  for (const part of parts) {
    count += part.count;
    if (part.minimum !== undefined && (minimum === undefined || compareDates(part.minimum, minimum, 1) < 0)) {
      minimum = part.minimum;
    }
    if (part.maximum !== undefined && (maximum === undefined || compareDates(part.maximum, maximum, -1) < 0)) {
      maximum = part.maximum;
    }
  }
  return { count, minimum: minimum?.text, maximum: maximum?.text };
}

type Dated = NonNullable<PartOf<"dates">["minimum"]>;

/** Earlier ones first, or with `direction` -1 later ones; of equal instants the smaller text either way. */
function compareDates(a: Dated, b: Dated, direction: 1 | -1): number {
  if (a.instant !== b.instant) return a.instant < b.instant ? -direction : direction;
  return compareUtf8(a.text, b.text);
}
