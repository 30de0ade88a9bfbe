import type { PropertyPart } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import type { IndexedProperty } from "../analysis/property-kind.js";
import type { AggregateScope } from "./aggregate-source.js";
import { countMembers, eachGrouped, type Groups } from "./groups.js";

/** How often each of two results was given, one part a group. */
export function* booleanFigures(
  scope: AggregateScope,
  property: IndexedProperty,
  groups: Groups,
): Work<readonly PropertyPart[]> {
  const { trues, falses } = property.isArray
    ? yield* countElements(scope, property, groups)
    : yield* countFlags(scope, property, groups);
  return trues.map((totalTrue, group) => ({ kind: "booleans", totalTrue, totalFalse: falses[group] ?? 0 }));
}

/** By group. */
interface BooleanCounts {
  readonly trues: readonly number[];
  readonly falses: readonly number[];
}

function* countElements(scope: AggregateScope, property: IndexedProperty, groups: Groups): Work<BooleanCounts> {
  const trues = new Array<number>(groups.size).fill(0);
  const falses = new Array<number>(groups.size).fill(0);
  const column = yield* scope.source.column(property);
  yield* eachGrouped(scope, groups, column.present, (group, document) => {
    for (const value of column.several(document) ?? [column.first(document)]) {
      const counts = value === 0 ? falses : trues;
      counts[group] = (counts[group] ?? 0) + 1;
    }
  });
  return { trues, falses };
}

function* countFlags(scope: AggregateScope, property: IndexedProperty, groups: Groups): Work<BooleanCounts> {
  const flags = yield* scope.source.flags(property);
  const trues = yield* countMembers(scope, groups, flags.documents("true"));
  return { trues, falses: yield* countMembers(scope, groups, flags.documents("false")) };
}

/** How many references there are, one part a group. */
export function* referenceFigures(
  scope: AggregateScope,
  property: IndexedProperty,
  groups: Groups,
): Work<readonly PropertyPart[]> {
  const column = yield* scope.source.column(property);
  const counts = new Array<number>(groups.size).fill(0);
  yield* eachGrouped(scope, groups, column.present, (group, document) => {
    counts[group] = (counts[group] ?? 0) + column.first(document);
  });
  return counts.map((count) => ({ kind: "references", count }));
}
