import { ShoalError } from "@shoal/model";
import { type FieldNode, type GraphQLObjectType, getArgumentValues, getNamedType, getVariableValues } from "graphql";
import type { GraphQlLimits } from "../limits.js";
import type { ReadDocument, ReadOptions } from "../plain/read-document.js";
import type { GraphQlRequest } from "../request-body.js";
import { type SelectionScope, selectedFields, selectedSubfields } from "../selected-fields.js";

type RowLimits = Pick<GraphQlLimits, "graphqlRowsMax" | "getRowsDefault" | "getRowsMax">;

/** What says how many rows a class field may answer with; null and absent mean the same. */
export interface PageArguments {
  readonly limit?: number | null | undefined;
  readonly offset?: number | null | undefined;
}

/** Rows that a class field reaches. None when it reaches more than one may: the query refuses it by itself. */
export function rowsOfGet({ limit, offset }: PageArguments, limits: RowLimits): number {
  const wanted = limit ?? limits.getRowsDefault;
  const rows = (wanted === -1 ? limits.getRowsDefault : wanted) + (offset ?? 0);
  return rows > 0 && rows <= limits.getRowsMax ? rows : 0;
}

/** Fails with `tooLarge`, naming the limit, when all class fields of a request together reach too many rows. */
export function checkRows(rows: number, limits: RowLimits): void {
  const max = limits.graphqlRowsMax;
  if (rows <= max) return;
  throw new ShoalError(
    "tooLarge",
    `the query reaches ${rows} rows (offset plus limit of all its fields), more than ${max} (GRAPHQL_ROWS_MAX)`,
  );
}

/** Rows that all class fields of a valid document reach. Arguments that execution will refuse count as none. */
export function rowsOfDocument(request: GraphQlRequest, read: ReadDocument, { schema, limits }: ReadOptions): number {
  const definitions = read.operation.variableDefinitions ?? [];
  const { coerced } = getVariableValues(schema, definitions, { ...request.variables });
  const root = schema.getQueryType();
  if (coerced === undefined || !root) return 0;
  const scope: SelectionScope = { schema, fragments: read.fragments, variableValues: coerced };
  let rows = 0;
  for (const nodes of selectedFields(scope, root, read.operation.selectionSet).values()) {
    if (nodes[0]?.name.value !== "Get") continue;
    const getType = getNamedType(root.getFields().Get?.type) as GraphQLObjectType;
    for (const [node] of selectedSubfields(scope, getType, nodes).values()) {
      const page = node && pageArguments(getType, node, coerced);
      if (page !== undefined) rows += rowsOfGet(page, limits);
    }
  }
  return rows;
}

function pageArguments(
  getType: GraphQLObjectType,
  node: FieldNode,
  variables: SelectionScope["variableValues"],
): PageArguments | undefined {
  const field = getType.getFields()[node.name.value];
  if (field === undefined) return undefined;
  try {
    return getArgumentValues(field, node, variables);
  } catch {
    return undefined;
  }
}
