import { type AggregatedProperty, aggregatedKind, type PropertyPart, ShoalError } from "@shoal/model";
import type { Work } from "@shoal/runtime";
import type { IndexedProperty } from "../analysis/property-kind.js";
import { notIndexed } from "../index-place.js";
import type { AggregateScope } from "./aggregate-source.js";
import { dateFigures } from "./date-figures.js";
import { type Groups, NO_GROUP } from "./groups.js";
import { numberFigures } from "./number-figures.js";
import { booleanFigures, referenceFigures } from "./other-figures.js";
import { readValues } from "./read-values.js";
import { textFigures } from "./text-figures.js";
import { readable } from "./unindexed-values.js";

/** When the node may know a property that it does not know yet. */
const SECONDS_LATER = 1;

/** What is said of a property, one part a group. What is not indexed is read from rows. */
export function* propertyParts(
  given: AggregateScope,
  wanted: AggregatedProperty,
  groups: Groups,
): Work<readonly PropertyPart[]> {
  const definition = given.source.definition(wanted.name);
  if (definition === undefined) {
    throw new ShoalError(
      "unavailable",
      `property '${wanted.name}' is not known here yet: the node follows the schema`,
      {
        retryAfterSeconds: SECONDS_LATER,
      },
    );
  }
  const kind = aggregatedKind(definition.dataType);
  if (kind === undefined) throw notIndexed(wanted.name);
  const { property, scope } = yield* readable(given, definition);
  if (kind === "texts") return yield* textFigures(scope, property, wanted, groups);
  if (kind === "references") {
    const isIndexed = property.kind !== "none";
    return yield* isIndexed ? referenceFigures(scope, property, groups) : readReferences(scope, property, groups);
  }
  if (kind === "numbers") return yield* numberFigures(scope, property, wanted, groups);
  if (kind === "booleans") return yield* booleanFigures(scope, property, groups);
  return yield* dateFigures(scope, property, groups);
}

function* readReferences(
  scope: AggregateScope,
  property: IndexedProperty,
  groups: Groups,
): Work<readonly PropertyPart[]> {
  const counts = new Array<number>(groups.size).fill(0);
  yield* readValues(scope, property.name, scope.documents, (document, values) => {
    const first = groups.first(document);
    if (first === NO_GROUP) return;
    for (const group of [first, ...(groups.more(document) ?? [])]) counts[group] = (counts[group] ?? 0) + values.length;
  });
  return counts.map((count) => ({ kind: "references", count }));
}
