import type { Json } from "@shoal/model";
import { type FieldNode, GraphQLError, type GraphQLOutputType, getNamedType, isObjectType } from "graphql";
import { type CompileScope, eachFieldBelow, type Selection } from "./compile-fields.js";
import type { JsonBytes } from "./json-bytes.js";

/** What is selected of a JSON value; undefined: all of it, which is a scalar or a list of them. */
export type JsonSelection = Selection<SelectedMember> | undefined;

interface SelectedMember {
  /** What stands before its value. */
  readonly prefix: string;
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
  return eachFieldBelow<SelectedMember>(scope, named, nodes, (responseName, field, inner, i) => {
    const member = field.name.value;
    const prefix = memberPrefix(responseName, i);
    const typeName = named.name;
    if (member === "__typename") return { prefix, member: undefined, typeName, selection: undefined };
    return { prefix, member, typeName, selection: compileJson(scope, named.getFields()[member]?.type, inner) };
  });
}

/** `{"name":` for the first member, `,"name":` for the others. */
export function memberPrefix(responseName: string, index: number): string {
  return `${index === 0 ? "{" : ","}"${responseName}":`;
}

/** Writes what is selected of a value; what is missing is null. */
export function writeJson(value: Json | undefined, selection: JsonSelection, out: JsonBytes): void {
  if (value === undefined || value === null || selection === undefined) {
    writeScalar(value ?? null, out);
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
  for (const { prefix, member, typeName, selection: inner } of selection) {
    out.ascii(prefix);
    if (member === undefined) out.utf8(JSON.stringify(typeName));
    else writeJson(memberOf(value, member), inner, out);
  }
  out.byte(125);
}

/** Writes a value as a whole. */
export function writeScalar(value: Json, out: JsonBytes): void {
  if (typeof value === "number" && Number.isFinite(value)) out.ascii(String(value));
  else if (value === null) out.ascii("null");
  else out.utf8(JSON.stringify(value));
}

/** Own member of a JSON object, or null. */
export function memberOf(value: Json | undefined, name: string): Json {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return null;
  return (value as { readonly [key: string]: Json })[name] ?? null;
}
