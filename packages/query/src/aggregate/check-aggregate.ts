import {
  AGGREGATE_GROUPS_DEFAULT,
  type AggregatedProperty,
  type AggregateQuery,
  aggregatedKind,
  isGroupable,
  isReferenceDataType,
  type PropertyAggregate,
  type PropertyDefinition,
  ShoalError,
} from "@shoal/model";
import type { ClassRecord, ShardAddress } from "@shoal/rpc";

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
export function checkAggregate(
  record: ClassRecord,
  query: AggregateQuery,
  shard: ShardAddress | undefined,
): CheckedAggregate | undefined {
  const limit = query.limit === undefined || query.limit === -1 ? AGGREGATE_GROUPS_DEFAULT : query.limit;
  if (query.groupBy !== undefined && limit < 0) {
    throw new ShoalError("invalid", `could not extract limits: limit must be 0 or more, got ${limit}`);
  }
  const kinds = query.properties.map((wanted) => checkProperty(record, wanted, shard));
  if (query.groupBy === undefined) return { groupBy: undefined, groupsMax: 1, kinds };
  const groupBy = checkGroupBy(record, query.groupBy, shard);
  return groupBy === undefined ? undefined : { groupBy, groupsMax: limit, kinds };
}

/** What messages of a shard begin with (reference-graphql 4.2). */
export function aggregatePrefix(shard: ShardAddress | undefined): string {
  return `shard ${shard?.shardName ?? ""}: `;
}

function checkGroupBy(
  record: ClassRecord,
  path: readonly string[],
  shard: ShardAddress | undefined,
): string | undefined {
  const [name] = path;
  if (name === undefined || path.length % 2 === 0) {
    const last = path.at(-1) ?? record.definition.class;
    throw new ShoalError("invalid", `could not extract groupBy path: missing an argument after '${last}'`);
  }
  const prefix = `${aggregatePrefix(shard)}identify groups: `;
  if (path.length > 1) throw new ShoalError("invalid", `${prefix}grouping by cross-refs not supported`);
  const property = propertyOf(record, name);
  if (property === undefined) return undefined;
  if (isReferenceDataType(property.dataType)) {
    throw new ShoalError("invalid", `${prefix}grouping by cross-refs not supported: property '${name}' is one`);
  }
  if (!isGroupable(property.dataType)) {
    throw new ShoalError("invalid", `${prefix}grouping by ${property.dataType[0]} not supported: property '${name}'`);
  }
  return name;
}

function checkProperty(
  record: ClassRecord,
  wanted: AggregatedProperty,
  shard: ShardAddress | undefined,
): PropertyAggregate["kind"] {
  const className = record.definition.class;
  const property = propertyOf(record, wanted.name);
  if (property === undefined) {
    throw new ShoalError(
      "invalid",
      `could not extract properties for class '${className}': no property '${wanted.name}'`,
    );
  }
  const kind = aggregatedKind(property.dataType);
  const type = property.dataType.join();
  const prefix = `${aggregatePrefix(shard)}aggregate properties: property ${wanted.name}: `;
  if (kind === undefined) throw new ShoalError("invalid", `${prefix}there are no figures of dataType ${type}`);
  const misfit = misfitOf(wanted, kind);
  if (misfit !== undefined) throw new ShoalError("invalid", `${prefix}dataType ${type} has no ${misfit}`);
  if ((wanted.topOccurrences ?? 0) < 0) {
    throw new ShoalError("invalid", `${prefix}limit of topOccurrences must be 0 or more, got ${wanted.topOccurrences}`);
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
