import {
  AGGREGATE_GROUPS_DEFAULT,
  type AggregatedProperty,
  type AggregateQuery,
  aggregatedKind,
  clauseText,
  isGroupable,
  isReferenceDataType,
  type PropertyAggregate,
  type PropertyDefinition,
  ShoalError,
  unknownProperty,
} from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";

export interface CheckedAggregate {
  readonly groupBy: string | undefined;
  /** Without meaning when there is no `groupBy`. */
  readonly groupsMax: number;
  /** Of each property of the query, in its order. */
  readonly kinds: readonly PropertyAggregate["kind"][];
}

/**
 * Checks an aggregation against its class. Undefined: there is no property to group by, so there are no groups
 * (reference-graphql 4.5). Fails with `invalid` on what cannot be grouped by or has no such figures.
 */
export function checkAggregate(record: ClassRecord, query: AggregateQuery): CheckedAggregate | undefined {
  const limit = query.limit === undefined || query.limit === -1 ? AGGREGATE_GROUPS_DEFAULT : query.limit;
  if (query.groupBy !== undefined && limit < 0) {
    throw new ShoalError("invalid", `limit must be 0 or more, got ${limit}`);
  }
  const kinds = query.properties.map((wanted) => checkProperty(record, wanted));
  if (query.groupBy === undefined) return { groupBy: undefined, groupsMax: 1, kinds };
  const groupBy = checkGroupBy(record, query.groupBy);
  return groupBy === undefined ? undefined : { groupBy, groupsMax: limit, kinds };
}

function checkGroupBy(record: ClassRecord, path: readonly string[]): string | undefined {
  const [name] = path;
  if (name === undefined || path.length % 2 === 0) {
    throw new ShoalError("invalid", `groupBy must name one property, as in ["name"], got ${clauseText(path)}`);
  }
  if (path.length > 1) {
    throw new ShoalError(
      "invalid",
      `groupBy goes along no references: it must name one property, got ${clauseText(path)}`,
    );
  }
  const property = propertyOf(record, name);
  if (property === undefined) return undefined;
  if (isReferenceDataType(property.dataType)) {
    throw new ShoalError("invalid", `groupBy: property '${name}' holds references, by which nothing can be grouped`);
  }
  if (!isGroupable(property.dataType)) {
    const type = property.dataType[0];
    throw new ShoalError("invalid", `groupBy: property '${name}' is ${type}, by which nothing can be grouped`);
  }
  return name;
}

function checkProperty(record: ClassRecord, wanted: AggregatedProperty): PropertyAggregate["kind"] {
  const className = record.definition.class;
  const property = propertyOf(record, wanted.name);
  if (property === undefined) {
    const known = (record.definition.properties ?? []).map(({ name }) => name);
    throw unknownProperty(wanted.name, className, known);
  }
  const kind = aggregatedKind(property.dataType);
  const type = property.dataType.join();
  const place = `property '${wanted.name}' of class '${className}'`;
  if (kind === undefined) throw new ShoalError("invalid", `${place} is ${type}, of which there are no figures`);
  const misfit = misfitOf(wanted, kind);
  if (misfit !== undefined) throw new ShoalError("invalid", `${place} is ${type}, which has no ${misfit}`);
  if ((wanted.topOccurrences ?? 0) < 0) {
    throw new ShoalError(
      "invalid",
      `${place}: the limit of topOccurrences must be 0 or more, got ${wanted.topOccurrences}`,
    );
  }
  return kind;
}

/** A figure that is wanted but that values of the kind do not have. */
function misfitOf(wanted: AggregatedProperty, kind: PropertyAggregate["kind"]): string | undefined {
  if (wanted.numbers && kind !== "numbers") return "minimum, maximum, sum and mean of numbers";
  if (wanted.distribution && kind !== "numbers") return "median and mode";
  if (wanted.topOccurrences !== undefined && kind !== "texts") return "topOccurrences";
  if (wanted.dates && kind !== "dates") return "earliest and latest";
  if (wanted.booleans && kind !== "booleans") return "totalTrue and totalFalse";
  return undefined;
}

function propertyOf(record: ClassRecord, name: string): PropertyDefinition | undefined {
  return record.definition.properties?.find((property) => property.name === name);
}
