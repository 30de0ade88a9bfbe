import type { Json } from "@shoal/model";
import { type FieldNode, GraphQLError, type GraphQLOutputType, getNamedType, isObjectType } from "graphql";
import { type CompileScope, eachFieldBelow, type Selection } from "./compile-fields.js";
import type { JsonBytes } from "./json-bytes.js";

/** What is selected of a JSON value; undefined: all of it, which is a scalar or a list of them. */
export type JsonSelection = Selection<SelectedMember> | undefined;

interface SelectedMember {
  readonly responseName: string;
  /** Undefined: the name of the type. */
  readonly member: string | undefined;
  readonly typeName: string;
  readonly selection: JsonSelection;
}

export function compileJson(
  scope: CompileScope,
  type: GraphQLOutputType | undefined,
  nodes: readonly FieldNode[],
): JsonSelection {
  const named = getNamedType(type);
  if (!isObjectType(named)) return undefined;
  return eachFieldBelow<SelectedMember>(scope, named, nodes, (responseName, field, inner) => {
    const member = field.name.value;
    const typeName = named.name;
    if (member === "__typename") return { responseName, member: undefined, typeName, selection: undefined };
    return { responseName, member, typeName, selection: compileJson(scope, named.getFields()[member]?.type, inner) };
  });
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
  if (selection instanceof GraphQLError) {
    out.failed(selection);
    return;
  }
  if (selection.length === 0) out.byte(123);
  for (const [i, { responseName, member, typeName, selection: inner }] of selection.entries()) {
    out.utf8(`${i === 0 ? "{" : ","}"${responseName}":`);
    if (member === undefined) out.utf8(JSON.stringify(typeName));
    else writeJson(memberOf(value, member), inner, out);
  }
  out.byte(125);
}

/** Own member of a JSON object, or null. */
export function memberOf(value: Json | undefined, name: string): Json {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
  return (value as { readonly [key: string]: Json })[name] ?? null;
}
