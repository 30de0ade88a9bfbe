import { type AggregatedProperty, DISTINCT_NUMBER_BYTES, type DistinctNumbers, type PropertyPart } from "@shoal/model";
import type { Work, Yielder } from "@shoal/runtime";
import type { IndexedProperty } from "../analysis/property-kind.js";
import type { CachedColumn } from "../cached/cached-column.js";
import type { AggregateScope } from "./aggregate-source.js";
import { columnFigures } from "./block-figures.js";
import { distinctNumbers } from "./distinct-numbers.js";
import { Figures } from "./figures.js";
import { EVERYTHING, eachGrouped, type Groups } from "./groups.js";
import { NumberList } from "./number-list.js";

/** Figures of an indexed number property, one part a group. */
export function* numberFigures(
  scope: AggregateScope,
  property: IndexedProperty,
  wanted: AggregatedProperty,
  groups: Groups,
): Work<readonly PropertyPart[]> {
  const column = yield* scope.source.column(property);
  if (groups === EVERYTHING && scope.isAll && !wanted.distribution) {
    return [{ kind: "numbers", ...(yield* columnFigures(column, scope.yielder)), distinct: undefined }];
  }
  const sums = Array.from({ length: groups.size }, () => new Figures());
  const values = wanted.distribution ? new NumberList() : undefined;
  const owners = wanted.distribution && groups.size > 1 ? new NumberList() : undefined;
  yield* eachGrouped(scope, groups, column.present, (group, document) => {
    const figures = sums[group];
    if (figures === undefined) return;
    forEachValue(column, document, (value) => {
      scope.yielder.count(VALUE_STEPS);
      figures.add(value);
      values?.push(value);
      owners?.push(group);
    });
  });
  if (values === undefined) return sums.map((figures) => ({ kind: "numbers", ...figures.all(), distinct: undefined }));
  scope.held.add(values.length * DISTINCT_NUMBER_BYTES);
  const distinct = yield* distributions(sums, values.values, owners?.values, scope.yielder);
  return sums.map((figures, group) => ({ kind: "numbers", ...figures.all(), distinct: distinct[group] }));
}

/** An exact sum of fractions is most of it. */
const VALUE_STEPS = 40;

function forEachValue(column: CachedColumn, document: number, visit: (value: number) => void): void {
  const several = column.hasSeveral ? column.several(document) : undefined;
  if (several === undefined) visit(column.first(document));
  else for (const value of several) visit(value);
}

/** Distinct values of each group; `owners` names the group of each value, undefined when there is but one. */
function* distributions(
  sums: readonly Figures[],
  values: Float64Array,
  owners: Float64Array | undefined,
  yielder: Yielder,
): Work<readonly DistinctNumbers[]> {
  if (owners === undefined) return [yield* distinctNumbers(values, yielder)];
  const starts: number[] = [];
  let start = 0;
  for (const { count } of sums) {
    starts.push(start);
    start += count;
  }
  const byGroup = new Float64Array(values.length);
  const filled = [...starts];
  for (let at = 0; at < values.length; at++) {
    const group = owners[at] ?? 0;
    const place = filled[group] ?? 0;
    byGroup[place] = values[at] ?? 0;
    filled[group] = place + 1;
    yielder.count(4);
    if (yielder.isDue) yield yielder.pause();
  }
  const distinct: DistinctNumbers[] = [];
  for (const [group, first] of starts.entries()) {
    distinct.push(yield* distinctNumbers(byGroup.subarray(first, filled[group]), yielder));
  }
  return distinct;
}
