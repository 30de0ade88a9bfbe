import type { Json } from "@shoal/model";
import { type FieldNode, type GraphQLOutputType, getNamedType, isObjectType } from "graphql";
import { type SelectionScope, selectedSubfields } from "../selected-fields.js";
import { eachField } from "./compile-fields.js";
import type { JsonBytes } from "./json-bytes.js";

/** What is selected of a JSON value; undefined: all of it, which is a scalar or a list of them. */
export type JsonSelection = readonly SelectedMember[] | undefined;

interface SelectedMember {
  readonly responseName: string;
  /** Undefined: the name of the type. */
  readonly member: string | undefined;
  readonly typeName: string;
  readonly selection: JsonSelection;
}

/** Null for what cannot be compiled. */
export function compileJson(
  scope: SelectionScope,
  type: GraphQLOutputType | undefined,
  nodes: readonly FieldNode[],
): JsonSelection | null {
  const named = getNamedType(type);
  if (!isObjectType(named)) return undefined;
  const members = eachField<SelectedMember>(selectedSubfields(scope, named, nodes), (responseName, field, inner) => {
    const member = field.name.value;
    const typeName = named.name;
    if (member === "__typename") return { responseName, member: undefined, typeName, selection: undefined };
    const selection = compileJson(scope, named.getFields()[member]?.type, inner);
    return selection === null ? undefined : { responseName, member, typeName, selection };
  });
  return members ?? null;
}

/** Writes what is selected of a value; what is missing is null. */
export function writeJson(value: Json | undefined, selection: JsonSelection, out: JsonBytes): void {
  if (value === undefined || value === null || selection === undefined) {
    out.utf8(JSON.stringify(value ?? null));
    return;
  }
  if (Array.isArray(value)) {
    out.byte(91);
    for (const [i, item] of value.entries()) {
      if (i > 0) out.byte(44);
      writeJson(item, selection, out);
    }
    out.byte(93);
    return;
  }
  for (const [i, { responseName, member, typeName, selection: inner }] of selection.entries()) {
    out.utf8(`${i === 0 ? "{" : ","}"${responseName}":`);
    if (member === undefined) out.utf8(JSON.stringify(typeName));
    else writeJson(memberOf(value, member), inner, out);
  }
  out.byte(125);
}

function memberOf(value: Json, name: string): Json | undefined {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as { readonly [key: string]: Json })[name]
    : undefined;
}
