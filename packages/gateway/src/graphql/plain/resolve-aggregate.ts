import type { AggregateGroup, AggregateQuery, ClassDefinition, PropertyAggregate } from "@shoal/model";
import { ShoalError } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import {
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  getArgumentValues,
  getNamedType,
  isObjectType,
} from "graphql";
import { aggregatedValue } from "../aggregate/aggregated-value.js";
import {
  aggregatedProperty,
  groupByPath,
  type SelectedProperty,
  selectedProperties,
  topOccurrencesLimit,
} from "../aggregate/selected-properties.js";
import { type SelectionScope, selectedSubfields } from "../selected-fields.js";
import { readAggregateWhere, type WhereReading } from "../where/read-where.js";
import { withWrittenIntegers } from "../where/written-integers.js";
import type { PlainContext } from "./plain-row.js";

/** Coerced arguments of a class field of Aggregate; `null` and absent mean the same. */
interface AggregateArguments {
  readonly where?: object | null;
  readonly groupBy?: readonly (string | null)[] | null;
  readonly limit?: number | null;
}

/** A group on its way through graphql-js, with what was asked. */
export class PlainGroup {
  constructor(
    private readonly group: AggregateGroup,
    private readonly query: AggregateQuery,
    /** By the name of the property its place in the query. */
    private readonly places: ReadonlyMap<string, number>,
  ) {}

  get meta(): object {
    return { count: this.group.objectCount };
  }

  get groupedBy(): object | null {
    const { groupedBy } = this.group;
    return groupedBy === undefined ? null : { path: this.query.groupBy ?? [], value: groupedBy };
  }

  /** Undefined inside when nothing was asked of it that the query knows. */
  property(name: string): PlainProperty {
    return new PlainProperty(this.group.properties[this.places.get(name) ?? -1]);
  }
}

export class PlainProperty {
  constructor(readonly aggregate: PropertyAggregate | undefined) {}

  value(field: string): number | string | null {
    return aggregatedValue(this.aggregate, field);
  }

  topOccurrences(limit: number): readonly object[] {
    return this.aggregate?.kind === "texts" ? this.aggregate.topOccurrences.slice(0, limit) : [];
  }
}

/** The group that a field is resolved on. */
export function groupOf(source: unknown): PlainGroup {
  if (source instanceof PlainGroup) return source;
  throw new ShoalError("internal", "an aggregated class field was resolved on something that is no group");
}

export function propertyOf(source: unknown): PlainProperty {
  if (source instanceof PlainProperty) return source;
  throw new ShoalError("internal", "a field of an aggregated property was resolved on something that is none");
}

/** Answers `Aggregate.<Class>` by one query. */
export function resolveAggregate(
  definition: ClassDefinition,
  query: QueryService,
  reading: WhereReading,
): GraphQLFieldResolver<unknown, PlainContext, AggregateArguments> {
  const className = definition.class;
  return async (_source, args, context, info) => {
    const type = getNamedType(info.returnType) as GraphQLObjectType;
    const selected = selectedProperties(info, definition, type, selectedSubfields(info, type, info.fieldNodes));
    const aggregate: AggregateQuery = {
      className,
      where: readAggregateWhere(withWrittenIntegers(args.where, "where", info.fieldNodes), className, reading),
      groupBy: groupByPath(args.groupBy),
      limit: args.limit ?? undefined,
      properties: selected.map((property) => aggregatedProperty(property, topLimits(info, className, type, property))),
    };
    const groups = await query.aggregate(aggregate, context.request);
    const places = new Map(selected.map(({ name }, place) => [name, place]));
    return groups.map((group) => new PlainGroup(group, aggregate, places));
  };
}

function topLimits(
  { variableValues }: SelectionScope,
  className: string,
  type: GraphQLObjectType,
  { name, topOccurrences }: SelectedProperty,
): readonly number[] {
  const propertyType = getNamedType(type.getFields()[name]?.type);
  const field = isObjectType(propertyType) ? propertyType.getFields().topOccurrences : undefined;
  if (field === undefined) return [];
  return topOccurrences.map((node) => {
    const { limit } = getArgumentValues(field, node, variableValues);
    return topOccurrencesLimit(className, name, limit as number | null | undefined);
  });
}
