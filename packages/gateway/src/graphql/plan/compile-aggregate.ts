import { checkWherePaths, withoutIdAlias } from "@shoal/model";
import type { FieldNode } from "graphql";
import { rowsOfAggregate } from "../guards/request-cost.js";
import type { GraphQlLimits } from "../limits.js";
import { type ClassField, type CompileParts, type CompileScope, givenField, objectTypeOf } from "./compile-fields.js";
import { compileGroup, type GroupMembers, writeGroup } from "./compile-groups.js";
import { type BoundCall, type PlannedCall, plannedCall, writeList } from "./planned-call.js";
import { readWhere, type WhereReading } from "./read-where.js";
import { selectedSubfields } from "./selected-fields.js";
import {
  type AskedProperty,
  aggregatedProperty,
  groupByPath,
  selectedProperties,
  topOccurrencesLimit,
} from "./selected-properties.js";

/** Coerced arguments of a class field; `null` and absent mean the same. */
interface AggregateArguments {
  readonly where?: object | null;
  readonly groupBy?: readonly (string | null)[] | null;
  readonly limit?: number | null;
}

/** Of a `topOccurrences`. */
interface TopArguments {
  readonly limit?: number | null;
}

/** What a class field asks and answers whatever its arguments are. */
interface AggregateShape {
  readonly className: string;
  /** With the number of its `topOccurrences`, each of which may have a limit of its own. */
  readonly properties: readonly (AskedProperty & { readonly tops: number })[];
  readonly members: GroupMembers;
  readonly where: WhereReading;
  readonly limits: GraphQlLimits;
}

/** `Aggregate.<Class>`. Fails as the field does when it cannot be asked. */
export function compileAggregate(parts: CompileParts, scope: CompileScope, field: ClassField): PlannedCall {
  const { definition, type, nodes } = field;
  const className = definition.class;
  const fields = selectedSubfields(scope, type, nodes);
  const selected = selectedProperties(scope, definition, type, fields);
  // Property by property, and in the order of the selection.
  const tops = selected.flatMap(({ name, topOccurrences }) =>
    topOccurrences.map((node) => givenField(scope, objectTypeOf(type, name), node)),
  );
  const places = { properties: selected.map(({ name }) => name), tops: tops.map(({ node }) => node) };
  const shape: AggregateShape = {
    className,
    properties: selected.map(({ topOccurrences, ...property }) => ({ ...property, tops: topOccurrences.length })),
    members: compileGroup(scope, definition, places, type, fields),
    where: parts.where,
    limits: parts.limits,
  };
  return plannedCall(field, tops, bindAggregate(shape));
}

function bindAggregate({ className, properties, members, where: reading, limits }: AggregateShape) {
  return (args: AggregateArguments, topArguments: readonly TopArguments[], node?: FieldNode): BoundCall => {
    // It does not validate values, and knows `_id`.
    const filter = readWhere(args.where, node, className, reading, checkWherePaths);
    const where = filter && withoutIdAlias(filter);
    const groupBy = groupByPath(args.groupBy);
    const topLimits: number[] = [];
    const asked = properties.map((property) => {
      const first = topLimits.length;
      const own = topArguments.slice(first, first + property.tops);
      for (const { limit } of own) topLimits.push(topOccurrencesLimit(className, property.name, limit));
      return aggregatedProperty(property, topLimits.slice(first));
    });
    const limit = args.limit ?? undefined;
    return {
      cost: { rows: rowsOfAggregate(groupBy !== undefined, limit, limits), targets: 0 },
      run: async (query, context) => {
        const groups = await query.aggregate({ className, where, groupBy, limit, properties: asked }, context);
        return (out) =>
          writeList(groups, out, (group) => writeGroup(members, group, { path: groupBy ?? [], topLimits }, out));
      },
    };
  };
}
