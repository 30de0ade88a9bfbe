import type { GetQuery } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import type { GraphQLFieldResolver, GraphQLObjectType } from "graphql";
import { queryVector } from "../query-vector.js";
import { selectedReferences } from "../reference-selection.js";
import { additionalNodes, fieldNames, rowFieldsOf, selectedSubfields } from "../selected-fields.js";
import { type PlainContext, PlainRow } from "./plain-row.js";

/** Coerced arguments of a class field; `null` and absent mean the same. */
interface GetArguments {
  readonly limit?: number | null;
  readonly offset?: number | null;
  readonly nearVector?: { readonly vector: readonly unknown[]; readonly certainty?: number | null } | null;
  readonly nearObject?: {
    readonly id?: string | null;
    readonly beacon?: string | null;
    readonly certainty?: number | null;
  } | null;
}

/** What a number of a vector takes on its way to an answer: a double, and its text soon after. */
const NUMBER_BYTES = 12;

/** Answers `Get.<Class>` by one query. */
export function resolveGet(
  className: string,
  query: QueryService,
): GraphQLFieldResolver<unknown, PlainContext, GetArguments> {
  return async (_source, args, context, info) => {
    const type = info.schema.getType(className) as GraphQLObjectType;
    const selected = selectedSubfields(info, type, info.fieldNodes);
    const additionalType = type.getFields()._additional?.type as GraphQLObjectType;
    const additional = selectedSubfields(info, additionalType, additionalNodes(selected));
    const references = selectedReferences(info, type, selected);
    const { nearVector, nearObject } = args;
    const get: GetQuery = {
      className,
      limit: args.limit ?? undefined,
      offset: args.offset ?? undefined,
      nearVector: nearVector
        ? { vector: queryVector(nearVector.vector), certainty: nearVector.certainty ?? undefined }
        : undefined,
      nearObject: nearObject
        ? {
            id: nearObject.id ?? undefined,
            beacon: nearObject.beacon ?? undefined,
            certainty: nearObject.certainty ?? undefined,
          }
        : undefined,
      fields: rowFieldsOf(fieldNames(selected), fieldNames(additional)),
      ...(references.length === 0 ? {} : { references }),
    };
    const isNear = get.nearVector !== undefined || get.nearObject !== undefined;
    const rows = await query.get(get, context.request);
    let numbers = 0;
    for (const { object } of rows) numbers += object?.vector?.length ?? 0;
    context.answer.addText(numbers * NUMBER_BYTES);
    return rows.map(
      (row) => new PlainRow(row.id, row.object, isNear ? (row.certainty ?? Number.NaN) : undefined, row.references),
    );
  };
}
