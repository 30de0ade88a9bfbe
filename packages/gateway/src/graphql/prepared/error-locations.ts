import { type FieldNode, GraphQLError, type GraphQLSchema, getVariableValues, isObjectType } from "graphql";
import { type ErrorItem, errorItem } from "../answer.js";
import type { RequestReading } from "../plain/request-reading.js";
import { type SelectedFields, type SelectionScope, selectedFields, selectedSubfields } from "../selected-fields.js";

/**
 * Finds the places of the fields `[<Get>, <class field>]` in the text of a request. The text is parsed for it: prepared
 * queries know no places, as literals move them.
 */
export function locationsOf(
  schema: GraphQLSchema,
  reading: RequestReading,
): (path: readonly string[]) => ErrorItem["locations"] {
  const valid = reading.valid();
  const root = schema.getQueryType();
  const getType = schema.getType("GetObjectsObj");
  if (valid === undefined || !root || !isObjectType(getType)) return () => [];
  const { operation, fragments } = valid.document;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], { ...valid.request.variables });
  const scope: SelectionScope = { schema, fragments, variableValues: coerced ?? {} };
  return ([get = "", field = ""]) => {
    const gets = nodesOf(selectedFields(scope, root, operation.selectionSet), get);
    const nodes = nodesOf(selectedSubfields(scope, getType, gets), field);
    return errorItem(new GraphQLError("", { nodes })).locations;
  };
}

function nodesOf(selected: SelectedFields, responseName: string): readonly FieldNode[] {
  return selected.get(responseName) ?? [];
}
