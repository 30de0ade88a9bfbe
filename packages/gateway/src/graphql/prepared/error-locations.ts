import {
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  isObjectType,
} from "graphql";
import { type ErrorItem, errorItem } from "../answer.js";
import type { RequestReading } from "../plain/request-reading.js";
import { type SelectedFields, type SelectionScope, selectedFields, selectedSubfields } from "../selected-fields.js";

/**
 * Finds the places of fields in the text of a request: of `[<Explore>]`, and of `[<Get or Aggregate>, <class field>]`. The
 * text is parsed for it: prepared queries know no places, as literals move them.
 */
export function locationsOf(
  schema: GraphQLSchema,
  reading: RequestReading,
): (path: readonly string[]) => ErrorItem["locations"] {
  const valid = reading.valid();
  const root = schema.getQueryType();
  if (valid === undefined || !root) return () => [];
  const { operation, fragments } = valid.document;
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], { ...valid.request.variables });
  const scope: SelectionScope = { schema, fragments, variableValues: coerced ?? {} };
  return ([first = "", second]) => {
    const outer = nodesOf(selectedFields(scope, root, operation.selectionSet), first);
    const type = getNamedType(root.getFields()[outer[0]?.name.value ?? ""]?.type);
    const nodes =
      second === undefined || !isObjectType(type) ? outer : nodesOf(selectedSubfields(scope, type, outer), second);
    return errorItem(new GraphQLError("", { nodes })).locations;
  };
}

function nodesOf(selected: SelectedFields, responseName: string): readonly FieldNode[] {
  return selected.get(responseName) ?? [];
}
