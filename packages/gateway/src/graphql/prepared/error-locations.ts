import {
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  getVariableValues,
  Kind,
  parse,
} from "graphql";
import { type ErrorItem, errorItem } from "../answer.js";
import { readRequest } from "../request-body.js";
import { type SelectedFields, type SelectionScope, selectedFields, selectedSubfields } from "../selected-fields.js";

/**
 * Finds the places of the fields `[<Get>, <class field>]` in the text of a request that was found valid before. The text
 * is parsed for it: prepared queries know no places, as literals move them.
 */
export function locationsOf(schema: GraphQLSchema, body: Buffer): (path: readonly string[]) => ErrorItem["locations"] {
  const read = readRequest(body);
  if ("refusal" in read) return () => [];
  const document = parse(read.request.query);
  const operation = getOperationAST(document, read.request.operationName);
  const root = schema.getQueryType();
  if (!operation || !root) return () => [];
  const { coerced } = getVariableValues(schema, operation.variableDefinitions ?? [], { ...read.request.variables });
  const fragments: SelectionScope["fragments"] = Object.create(null);
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  const scope: SelectionScope = { schema, fragments, variableValues: coerced ?? {} };
  return ([get = "", field = ""]) => {
    const gets = nodesOf(selectedFields(scope, root, operation.selectionSet), get);
    const getType = schema.getType("GetObjectsObj");
    if (getType === undefined || !("getFields" in getType)) return [];
    const nodes = nodesOf(selectedSubfields(scope, getType as typeof root, gets), field);
    return errorItem(new GraphQLError("", { nodes })).locations;
  };
}

function nodesOf(selected: SelectedFields, responseName: string): readonly FieldNode[] {
  return selected.get(responseName) ?? [];
}
