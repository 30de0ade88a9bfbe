import type { ClassDefinition } from "@shoal/model";
import type { FieldNode, GraphQLObjectType } from "graphql";
import { aggregateTypeText } from "../aggregate/aggregate-type-text.js";
import { type SelectedFields, type SelectionScope, selectedSubfields } from "../selected-fields.js";
import type { AggregatePlan } from "./aggregate-plan.js";
import { constantField, eachField, objectTypeOf } from "./compile-fields.js";
import type { GroupField, NamedField, PropertyField } from "./group-writer.js";

/** The fields of the groups of a class, or undefined for what cannot be compiled. */
export function compileGroup(
  scope: SelectionScope,
  definition: ClassDefinition,
  plan: AggregatePlan,
  type: GraphQLObjectType,
  selected: SelectedFields,
): readonly GroupField[] | undefined {
  return eachField<GroupField>(selected, (responseName, field, nodes) => {
    const name = field.name.value;
    if (name === "__typename") return constantField(responseName, type.name);
    const inner = objectTypeOf(type, name);
    if (inner === undefined) return undefined;
    if (name === "meta") {
      const members = compileNamed<"count">(scope, inner, nodes);
      return members && { kind: "meta", responseName, members };
    }
    if (name === "groupedBy") {
      const members = compileNamed<"path" | "value">(scope, inner, nodes);
      return members && { kind: "groupedBy", responseName, members };
    }
    const members = compileProperty(scope, definition, plan, inner, name, nodes);
    return members && { kind: "property", responseName, place: plan.placeOf(name), members };
  });
}

function compileProperty(
  scope: SelectionScope,
  definition: ClassDefinition,
  plan: AggregatePlan,
  type: GraphQLObjectType,
  property: string,
  nodes: readonly FieldNode[],
): readonly PropertyField[] | undefined {
  const dataType = definition.properties?.find((each) => each.name === property)?.dataType;
  if (dataType === undefined) return undefined;
  return eachField<PropertyField>(selectedSubfields(scope, type, nodes), (responseName, field, innerNodes) => {
    const name = field.name.value;
    if (name === "__typename") return constantField(responseName, type.name);
    if (name === "type") return constantField(responseName, aggregateTypeText(dataType));
    if (name === "pointingTo") return constantField(responseName, dataType);
    if (name !== "topOccurrences") return { kind: "value", responseName, field: name };
    const inner = objectTypeOf(type, name);
    const members = inner && compileNamed<"value" | "occurs">(scope, inner, innerNodes);
    const place = plan.placeOfTop(innerNodes);
    return members && place !== undefined ? { kind: "topOccurrences", responseName, place, members } : undefined;
  });
}

/** The fields of an object that is made for the answer; validation has let no other names through. */
function compileNamed<Name extends string>(
  scope: SelectionScope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): readonly NamedField<Name>[] | undefined {
  return eachField<NamedField<Name>>(selectedSubfields(scope, type, nodes), (responseName, field) =>
    field.name.value === "__typename"
      ? constantField(responseName, type.name)
      : { kind: "named", responseName, name: field.name.value as Name },
  );
}
