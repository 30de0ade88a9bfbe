import { type AggregatedProperty, aggregatedKind, type PropertyPart, ShoalError } from "@shoal/model";
import { type IndexedProperty, indexedProperty } from "../analysis/property-kind.js";
import { notIndexed } from "../not-indexed.js";
import type { Work } from "../work.js";
import type { AggregateScope } from "./aggregate-source.js";
import { dateFigures } from "./date-figures.js";
import { type Groups, NO_GROUP } from "./groups.js";
import { numberFigures } from "./number-figures.js";
import { booleanFigures, referenceFigures } from "./other-figures.js";
import { readValues } from "./read-values.js";
import { textFigures } from "./text-figures.js";

/** When the node may know a property that it does not know yet. */
const SECONDS_LATER = 1;

/** What is said of a property, one part a group. Texts and references that are not indexed are read from rows. */
export function propertyParts(
  scope: AggregateScope,
  wanted: AggregatedProperty,
  groups: Groups,
): Work<readonly PropertyPart[]> {
  const definition = scope.source.definition(wanted.name);
  if (definition === undefined) {
    throw new ShoalError(
      "unavailable",
      `property '${wanted.name}' is not known here yet: the node follows the schema`,
      {
        retryAfterSeconds: SECONDS_LATER,
      },
    );
  }
  const property = indexedProperty(definition);
  const kind = aggregatedKind(definition.dataType);
  const isIndexed = property.kind !== "none";
  if (kind === "texts") return textFigures(scope, property, wanted, groups);
  if (kind === "references") {
    return isIndexed ? referenceFigures(scope, property, groups) : readReferences(scope, property, groups);
  }
  if (kind === undefined || !isIndexed) throw notIndexed(wanted.name);
  if (kind === "numbers") return numberFigures(scope, property, wanted, groups);
  if (kind === "booleans") return booleanFigures(scope, property, groups);
  return dateFigures(scope, property, groups);
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
