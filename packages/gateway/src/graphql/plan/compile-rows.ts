import { type FieldNode, type GraphQLObjectType, getNamedType, isLeafType, isUnionType } from "graphql";
import {
  type CompileScope,
  eachField,
  eachFieldBelow,
  type GivenField,
  givenField,
  objectTypeOf,
  type Selection,
} from "./compile-fields.js";
import { compileJson, memberPrefix } from "./json-selection.js";
import type { StoredField } from "./object-writer.js";
import { targetClasses } from "./reference-selection.js";
import { type AdditionalField, type RowField, RowWriter, type TargetField } from "./row-writer.js";
import { type SelectedFields, selectedSubfields } from "./selected-fields.js";

/**
 * The fields of the rows of a class. `added` gets the fields that modules answer; without it the rows are those that others
 * refer to, of which modules are not asked for anything.
 */
export function compileRow(
  scope: CompileScope,
  type: GraphQLObjectType,
  selected: SelectedFields,
  added: GivenField[] | undefined,
): readonly RowField[] {
  return eachField<RowField>(selected, (responseName, field, nodes) => {
    const name = field.name.value;
    const union = getNamedType(type.getFields()[name]?.type);
    if (isUnionType(union)) {
      const targets = targetClasses(scope, union, nodes).map((className) => compileTarget(scope, className, nodes));
      return { kind: "references", responseName, property: name, targets };
    }
    if (name !== "_additional") return compileStored(scope, type, responseName, field, nodes);
    return {
      kind: "additional",
      responseName,
      fields: compileAdditional(scope, objectTypeOf(type, name), nodes, added),
    };
  });
}

function compileTarget(scope: CompileScope, className: string, nodes: readonly FieldNode[]): TargetField {
  const type = scope.schema.getType(className) as GraphQLObjectType;
  const fields = compileRow(scope, type, selectedSubfields(scope, type, nodes), undefined);
  return { className, rows: new RowWriter(fields, "target") };
}

function compileStored(
  scope: CompileScope,
  type: GraphQLObjectType,
  responseName: string,
  field: FieldNode,
  nodes: readonly FieldNode[],
): StoredField {
  const property = field.name.value;
  if (property === "__typename") return { kind: "typename", responseName, typeName: type.name };
  if (isLeafType(getNamedType(type.getFields()[property]?.type))) return { kind: "value", responseName, property };
  const inner = objectTypeOf(type, property);
  const members = eachFieldBelow(scope, inner, nodes, (name, member, memberNodes) =>
    compileStored(scope, inner, name, member, memberNodes),
  );
  return { kind: "object", responseName, property, members };
}

function compileAdditional(
  scope: CompileScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  added: GivenField[] | undefined,
): Selection<AdditionalField> {
  return eachFieldBelow<AdditionalField>(scope, type, nodes, (responseName, field, innerNodes, i) => {
    const prefix = memberPrefix(responseName, i);
    const kind = field.name.value;
    if (kind === "__typename") return { prefix, kind: "typename", typeName: type.name };
    if (kind === "id" || kind === "certainty" || kind === "vector") return { prefix, kind };
    const selection = compileJson(scope, type.getFields()[kind]?.type, innerNodes);
    if (kind === "classification") return { prefix, kind, selection };
    if (added === undefined) return { prefix, kind: "unknown" };
    return { prefix, kind: "added", place: added.push(givenField(scope, type, field)) - 1, selection };
  });
}
