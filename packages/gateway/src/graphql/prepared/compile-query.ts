import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  isLeafType,
  isObjectType,
} from "graphql";
import type { ReadDocument } from "../plain/read-document.js";
import type { GraphQlRequest } from "../request-body.js";
import {
  additionalNodes,
  fieldNames,
  rowFieldsOf,
  type SelectedFields,
  type SelectionScope,
  selectedFields,
  selectedSubfields,
} from "../selected-fields.js";
import { LiteralBindings } from "./bind-literals.js";
import { GetPlan } from "./get-plan.js";
import type { RequestLifter } from "./lift-request.js";
import { type AdditionalField, type PlainMember, type RowField, RowWriter, type StoredFields } from "./row-writer.js";

/** A constant text, or the rows of a class. */
export type PlannedField =
  | { readonly kind: "constant"; readonly responseName: string; readonly json: string }
  | { readonly kind: "class"; readonly responseName: string; readonly get: GetPlan; readonly rows: RowWriter };

/** A member of `data`: a constant, or a `Get` with its fields. */
export type PlannedRoot =
  | { readonly kind: "constant"; readonly responseName: string; readonly json: string }
  | { readonly kind: "get"; readonly responseName: string; readonly fields: readonly PlannedField[] };

/**
 * Compiles a request for its template, or undefined when requests of this template cannot be answered without
 * graphql-js: introspection, references, several operations, and literals in places where their kind does not settle
 * whether they are valid.
 */
export function compileQuery(
  schema: GraphQLSchema,
  request: GraphQlRequest,
  read: ReadDocument,
  lifter: RequestLifter,
): readonly PlannedRoot[] | undefined {
  if (read.operationCount !== 1) return undefined;
  const definitions = read.operation.variableDefinitions ?? [];
  const { coerced } = getVariableValues(schema, definitions, { ...request.variables });
  const bindings = LiteralBindings.of(lifter, read.document, read.operation, request.variables);
  const root = schema.getQueryType();
  if (coerced === undefined || bindings === undefined || !root) return undefined;
  const scope: SelectionScope = { schema, fragments: read.fragments, variableValues: coerced };
  const planned = new QueryCompiler(scope, bindings).root(
    root,
    selectedFields(scope, root, read.operation.selectionSet),
  );
  return bindings.areAllUsed ? planned : undefined;
}

/** Every method answers undefined for what cannot be compiled. */
class QueryCompiler {
  constructor(
    private readonly scope: SelectionScope,
    private readonly bindings: LiteralBindings,
  ) {}

  root(type: GraphQLObjectType, selected: SelectedFields): readonly PlannedRoot[] | undefined {
    return each(selected, (responseName, field, nodes) => {
      if (field.name.value === "__typename") return constant(responseName, type.name);
      if (field.name.value !== "Get") return undefined;
      const getType = objectType(type, "Get");
      const fields = getType && this.classes(getType, selectedSubfields(this.scope, getType, nodes));
      return fields && { kind: "get", responseName, fields };
    });
  }

  private classes(type: GraphQLObjectType, selected: SelectedFields): readonly PlannedField[] | undefined {
    return each(selected, (responseName, field, nodes) => {
      const name = field.name.value;
      if (name === "__typename") return constant(responseName, type.name);
      const classType = objectType(type, name);
      const additionalType = classType && objectType(classType, "_additional");
      if (classType === undefined || additionalType === undefined) return undefined;
      const classFields = selectedSubfields(this.scope, classType, nodes);
      const additional = selectedSubfields(this.scope, additionalType, additionalNodes(classFields));
      const fields = rowFieldsOf(fieldNames(classFields), fieldNames(additional));
      const get = GetPlan.of(name, field.arguments, this.bindings, fields);
      const rows = this.row(classType, classFields);
      return get && rows && { kind: "class", responseName, get, rows: new RowWriter(rows, get.isNear) };
    });
  }

  private row(type: GraphQLObjectType, selected: SelectedFields): readonly RowField[] | undefined {
    return each<RowField>(selected, (responseName, field, nodes) => {
      if (field.name.value !== "_additional") return this.stored(type, responseName, field, nodes);
      const additionalType = objectType(type, "_additional");
      const inner = additionalType && selectedSubfields(this.scope, additionalType, nodes);
      const fields = additionalType && inner && this.additional(additionalType, inner);
      return fields && { kind: "additional", responseName, fields };
    });
  }

  private stored(
    type: GraphQLObjectType,
    responseName: string,
    field: FieldNode,
    nodes: readonly FieldNode[],
  ): StoredFields[number] | undefined {
    const property = field.name.value;
    if (property === "__typename") return { kind: "typename", responseName, typeName: type.name };
    const propertyType = getNamedType(type.getFields()[property]?.type);
    if (isLeafType(propertyType)) return { kind: "value", responseName, property };
    if (!isObjectType(propertyType)) return undefined;
    const members = each(selectedSubfields(this.scope, propertyType, nodes), (name, inner, innerNodes) =>
      this.stored(propertyType, name, inner, innerNodes),
    );
    return members && { kind: "object", responseName, property, members };
  }

  private additional(type: GraphQLObjectType, selected: SelectedFields): readonly AdditionalField[] | undefined {
    return each<AdditionalField>(selected, (responseName, field, nodes) => {
      const kind = field.name.value;
      if (kind === "__typename") return { kind: "typename", responseName, typeName: type.name };
      if (kind === "id" || kind === "certainty" || kind === "vector") return { kind, responseName };
      const inner = kind === "classification" ? objectType(type, kind) : undefined;
      if (inner === undefined) return undefined;
      const members = each<PlainMember>(selectedSubfields(this.scope, inner, nodes), (name, member) => ({
        responseName: name,
        member: member.name.value === "__typename" ? undefined : member.name.value,
        typeName: inner.name,
      }));
      return members && { kind: "classification", responseName, members };
    });
  }
}

/** The results for all fields; undefined when there is none for one of them, or when there are no fields. */
function each<T>(
  selected: SelectedFields,
  compile: (responseName: string, field: FieldNode, nodes: readonly FieldNode[]) => T | undefined,
): readonly T[] | undefined {
  const results: T[] = [];
  for (const [responseName, nodes] of selected) {
    const result = nodes[0] && compile(responseName, nodes[0], nodes);
    if (result === undefined) return undefined;
    results.push(result);
  }
  // An empty selection (all of it skipped) is left to graphql-js.
  return results.length === 0 ? undefined : results;
}

function objectType(parent: GraphQLObjectType, field: string): GraphQLObjectType | undefined {
  const type = getNamedType(parent.getFields()[field]?.type);
  return isObjectType(type) ? type : undefined;
}

function constant(responseName: string, typeName: string) {
  return { kind: "constant", responseName, json: JSON.stringify(typeName) } as const;
}
