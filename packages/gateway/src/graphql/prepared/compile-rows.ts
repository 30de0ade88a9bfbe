import { type FieldNode, type GraphQLObjectType, getNamedType, isLeafType, isObjectType, isUnionType } from "graphql";
import { targetClasses } from "../reference-selection.js";
import { type SelectedFields, type SelectionScope, selectedSubfields } from "../selected-fields.js";
import { eachField, objectTypeOf } from "./compile-fields.js";
import { compileJson } from "./json-selection.js";
import type { AdditionalPlans } from "./module-plans.js";
import type { StoredFields } from "./object-writer.js";
import { type AdditionalField, type PlainMember, type RowField, RowWriter, type TargetField } from "./row-writer.js";

/**
 * The fields of the rows of a class, or undefined for what cannot be compiled. `added` gets what modules are asked for; of
 * what rows refer to, modules are not asked for anything: such a selection is left to graphql-js.
 */
export function compileRow(
  scope: SelectionScope,
  type: GraphQLObjectType,
  selected: SelectedFields,
  added: AdditionalPlans | undefined,
): readonly RowField[] | undefined {
  return eachField<RowField>(selected, (responseName, field, nodes) => {
    const union = getNamedType(type.getFields()[field.name.value]?.type);
    if (isUnionType(union)) {
      const classNames = targetClasses(scope, union, nodes);
      const targets = classNames.flatMap((name) => compileTarget(scope, name, nodes) ?? []);
      if (targets.length < classNames.length) return undefined;
      return { kind: "references", responseName, property: field.name.value, targets };
    }
    if (field.name.value !== "_additional") return compileStored(scope, type, responseName, field, nodes);
    const additionalType = objectTypeOf(type, "_additional");
    const fields = additionalType && compileAdditional(scope, additionalType, nodes, added);
    return fields && { kind: "additional", responseName, fields };
  });
}

function compileTarget(scope: SelectionScope, className: string, nodes: readonly FieldNode[]): TargetField | undefined {
  const type = scope.schema.getType(className);
  if (!isObjectType(type)) return undefined;
  const fields = compileRow(scope, type, selectedSubfields(scope, type, nodes), undefined);
  return fields && { className, rows: new RowWriter(fields, "target") };
}

function compileStored(
  scope: SelectionScope,
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
  const members = eachField(selectedSubfields(scope, propertyType, nodes), (name, inner, innerNodes) =>
    compileStored(scope, propertyType, name, inner, innerNodes),
  );
  return members && { kind: "object", responseName, property, members };
}

function compileAdditional(
  scope: SelectionScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  added: AdditionalPlans | undefined,
): readonly AdditionalField[] | undefined {
  return eachField<AdditionalField>(selectedSubfields(scope, type, nodes), (responseName, field, innerNodes) => {
    const kind = field.name.value;
    if (kind === "__typename") return { kind: "typename", responseName, typeName: type.name };
    if (kind === "id" || kind === "certainty" || kind === "vector") return { kind, responseName };
    if (kind !== "classification") {
      const place = added?.placeOf(field);
      const selection = compileJson(scope, type.getFields()[kind]?.type, innerNodes);
      return place === undefined || selection === null ? undefined : { kind: "added", responseName, place, selection };
    }
    const inner = objectTypeOf(type, kind);
    if (inner === undefined) return undefined;
    const members = eachField<PlainMember>(selectedSubfields(scope, inner, innerNodes), (name, member) => ({
      responseName: name,
      member: member.name.value === "__typename" ? undefined : member.name.value,
      typeName: inner.name,
    }));
    return members && { kind: "classification", responseName, members };
  });
}
