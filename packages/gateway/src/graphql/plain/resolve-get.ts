import { type ClassDefinition, type GetQuery, type Grouping, ShoalError } from "@shoal/model";
import type { EnabledModules } from "@shoal/module-api";
import type { QueryService } from "@shoal/query";
import type { GraphQLFieldResolver, GraphQLObjectType } from "graphql";
import { additionalRequestsOf, moduleSearchesOf } from "../module-values.js";
import { selectedReferences } from "../reference-selection.js";
import { additionalNodes, fieldNames, rowFieldsOf, selectedSubfields } from "../selected-fields.js";
import { readGetWhere, type WhereReading } from "../where/read-where.js";
import { withWrittenIntegers } from "../where/written-integers.js";
import { type NearArguments, nearObjectOf, nearVectorOf } from "./near-arguments.js";
import { type PlainContext, PlainRow } from "./plain-row.js";

/** Coerced arguments of a class field; `null` and absent mean the same. */
interface GetArguments extends NearArguments {
  readonly limit?: number | null;
  readonly offset?: number | null;
  readonly where?: object | null;
  readonly group?: { readonly type?: Grouping["type"] | null; readonly force: number } | null;
}

/** What a number of a vector takes on its way to an answer: a double, and its text soon after. */
const NUMBER_BYTES = 12;

/** Answers `Get.<Class>` by one query. */
export function resolveGet(
  definition: ClassDefinition,
  query: QueryService,
  reading: WhereReading,
  modules: EnabledModules,
): GraphQLFieldResolver<unknown, PlainContext, GetArguments> {
  const { class: className } = definition;
  const searches = [...modules.argumentsOf(definition).keys()];
  const offered = modules.additionalOf(definition);
  return async (_source, args, context, info) => {
    const type = info.schema.getType(className) as GraphQLObjectType;
    const selected = selectedSubfields(info, type, info.fieldNodes);
    const additionalType = type.getFields()._additional?.type as GraphQLObjectType;
    const additional = selectedSubfields(info, additionalType, additionalNodes(selected));
    const requests = additionalRequestsOf(additional, offered, additionalType, info.variableValues);
    const moduleSearches = moduleSearchesOf(args, searches);
    const references = selectedReferences(info, type, selected);
    const where = readGetWhere(withWrittenIntegers(args.where, "where", info.fieldNodes), className, reading);
    const group = groupingOf(args.group);
    const get: GetQuery = {
      className,
      limit: args.limit ?? undefined,
      offset: args.offset ?? undefined,
      nearVector: nearVectorOf(args),
      nearObject: nearObjectOf(args),
      fields: rowFieldsOf(fieldNames(selected), fieldNames(additional)),
      ...(where === undefined ? {} : { where }),
      ...(group === undefined ? {} : { group }),
      ...(moduleSearches.length === 0 ? {} : { moduleSearches }),
      ...(requests.size === 0 ? {} : { additional: [...requests.values()] }),
      ...(references.length === 0 ? {} : { references }),
    };
    const isNear = get.nearVector !== undefined || get.nearObject !== undefined || moduleSearches.length > 0;
    const rows = await query.get(get, context.request);
    let numbers = 0;
    for (const { object } of rows) numbers += object?.vector?.length ?? 0;
    context.answer.addText(numbers * NUMBER_BYTES);
    const keys = [...requests.keys()];
    const made = rows.map((row) => {
      const certainty = isNear ? (row.certainty ?? Number.NaN) : undefined;
      const added = new Map(keys.map((key, at) => [key, row.additional?.[at] ?? null]));
      return new PlainRow(row.id, row.object, certainty, row.references, added);
    });
    return context.reached.rows(made);
  };
}

/** The type may be left out by the schema, but not here (reference-graphql 2.2). */
function groupingOf(group: GetArguments["group"]): Grouping | undefined {
  if (!group) return undefined;
  if (group.type) return { type: group.type, force: group.force };
  throw new ShoalError("invalid", "group.type is missing: it must be closest or merge");
}
