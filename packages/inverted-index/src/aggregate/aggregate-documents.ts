import {
  aggregateTooLarge,
  bytesOfAggregate,
  type GroupPart,
  type PropertyPart,
  type ShardAggregate,
  type ShardAggregation,
} from "@shoal/model";
import { ByteBudget, type Work, type WorkBounds, type Yielder } from "@shoal/runtime";
import type { AggregateScope, AggregateSource } from "./aggregate-source.js";
import { groupBy } from "./group-by.js";
import { EVERYTHING, GroupTable } from "./groups.js";
import { propertyParts } from "./property-parts.js";

const LIMIT = "AGGREGATE_BYTES_MAX";

/**
 * Figures over the documents that satisfy the filter. Commits between the steps of a long one may be seen by some figures
 * and not by others. Fails with `invalid` for a property that is not indexed, and with `tooLarge` when groups and distinct
 * values take too much memory. What the result holds stays counted in the bounds' bytes, to be given back by whoever gets
 * it; everything else is given back here.
 */
export function* aggregateDocuments(
  source: AggregateSource,
  aggregation: ShardAggregation,
  bounds: WorkBounds,
  yielder: Yielder,
): Work<ShardAggregate> {
  const { filter, isWhole, bytesMax } = aggregation;
  const fullError = () => aggregateTooLarge(bytesMax, isWhole ? LIMIT : `a shard's part of ${LIMIT}`);
  const held = new ByteBudget({ max: bytesMax, parent: bounds.rowBytes, kind: "aggregation", fullError });
  let keptBytes = 0;
  try {
    const documents = filter === undefined ? source.directory.all() : yield* source.matching(filter, yielder);
    const isAll = filter === undefined;
    const result = yield* partsOf({ source, documents, isAll, isWhole, held, yielder, bounds }, aggregation);
    keptBytes = bytesOfAggregate(result);
    return result;
  } finally {
    held.close(keptBytes);
  }
}

function* partsOf(scope: AggregateScope, aggregation: ShardAggregation): Work<ShardAggregate> {
  const { groupBy: groupByName, properties } = aggregation;
  const { directory } = scope.source;
  if (groupByName !== undefined) return yield* groupedParts(scope, aggregation, groupByName);
  const objectCount = scope.isAll ? directory.count : scope.documents.size;
  const parts: PropertyPart[] = [];
  for (const wanted of properties) parts.push(...(yield* propertyParts(scope, wanted, EVERYTHING)));
  return [{ groupedBy: undefined, objectCount, properties: parts }];
}

function* groupedParts(scope: AggregateScope, aggregation: ShardAggregation, name: string): Work<ShardAggregate> {
  const definition = scope.source.definition(name);
  if (definition === undefined) return [];
  const { groups, assign } = yield* groupBy(scope, aggregation, definition);
  if (groups.length === 0) return [];
  const ofProperties: (readonly PropertyPart[])[] = [];
  if (aggregation.properties.length > 0) {
    const table = new GroupTable(groups.length, scope.source.directory.documentLimit);
    yield* assign(table);
    for (const wanted of aggregation.properties) ofProperties.push(yield* propertyParts(scope, wanted, table));
  }
  const parts: GroupPart[] = [];
  for (const [at, { value, objectCount }] of groups.entries()) {
    const properties = ofProperties.flatMap((all) => all[at] ?? []);
    parts.push({ groupedBy: value, objectCount, properties });
    scope.yielder.count(PART_STEPS);
    if (scope.yielder.isDue) yield scope.yielder.pause();
  }
  return parts;
}

const PART_STEPS = 300;
