import {
  type AggregateGroup,
  type ClassDefinition,
  type Json,
  type PropertyAggregate,
  primitiveDataType,
} from "@shoal/model";
import type { FieldNode, GraphQLObjectType } from "graphql";
import { type CompileScope, eachField, objectTypeOf } from "./compile-fields.js";
import type { JsonBytes } from "./json-bytes.js";
import { compileJson, type JsonSelection, memberPrefix, writeJson, writeScalar } from "./json-selection.js";
import { writeList } from "./planned-call.js";
import { type SelectedFields, selectedSubfields } from "./selected-fields.js";

/** A member of a group, or of a property of it. */
export type GroupMember = { readonly prefix: string } & (
  | { readonly kind: "constant"; readonly json: string }
  | { readonly kind: "meta"; readonly selection: JsonSelection }
  | { readonly kind: "groupedBy"; readonly selection: JsonSelection }
  | { readonly kind: "property"; readonly inner: GroupMembers }
  /** `property`: its place in the query, here and below. */
  | { readonly kind: "value"; readonly property: number; readonly field: string }
  /** `limit`: its place among those that are asked. */
  | { readonly kind: "top"; readonly property: number; readonly limit: number; readonly selection: JsonSelection }
);

/** The members of an object; `isLong`: a list that may be long is among them, or below. */
export interface GroupMembers {
  readonly members: readonly GroupMember[];
  readonly isLong: boolean;
}

/** What was asked for, beside what came back. */
interface AskedGroups {
  /** Of `groupBy`. */
  readonly path: readonly string[];
  /** In the order of {@link GroupPlaces.tops}. */
  readonly topLimits: readonly number[];
}

/** Where the response of the query has what the fields of a group answer. */
interface GroupPlaces {
  /** Names in the order of the query; nothing is asked of others. */
  readonly properties: readonly string[];
  /** Where `topOccurrences` is selected. */
  readonly tops: readonly FieldNode[];
}

/** The groups of a class. */
export function compileGroup(
  scope: CompileScope,
  definition: ClassDefinition,
  places: GroupPlaces,
  type: GraphQLObjectType,
  selected: SelectedFields,
): GroupMembers {
  const members = eachField<GroupMember>(selected, (responseName, field, nodes, i) => {
    const prefix = memberPrefix(responseName, i);
    const name = field.name.value;
    if (name === "__typename") return constant(prefix, type.name);
    const inner = objectTypeOf(type, name);
    if (name === "meta" || name === "groupedBy")
      return { prefix, kind: name, selection: compileJson(scope, inner, nodes) };
    return { prefix, kind: "property", inner: compileProperty(scope, definition, places, inner, name, nodes) };
  });
  return membersOf(members);
}

function compileProperty(
  scope: CompileScope,
  definition: ClassDefinition,
  places: GroupPlaces,
  type: GraphQLObjectType,
  name: string,
  nodes: readonly FieldNode[],
): GroupMembers {
  const dataType = definition.properties?.find((each) => each.name === name)?.dataType ?? [];
  const property = places.properties.indexOf(name);
  const members = eachField<GroupMember>(selectedSubfields(scope, type, nodes), (responseName, node, innerNodes, i) => {
    const prefix = memberPrefix(responseName, i);
    const field = node.name.value;
    if (field === "__typename") return constant(prefix, type.name);
    // reference-graphql 4.2
    if (field === "type") return constant(prefix, primitiveDataType(dataType) ?? "cref");
    if (field === "pointingTo") return constant(prefix, dataType);
    if (field !== "topOccurrences") return { prefix, kind: "value", property, field };
    const selection = compileJson(scope, objectTypeOf(type, field), innerNodes);
    return { prefix, kind: "top", property, limit: places.tops.indexOf(node), selection };
  });
  return membersOf(members);
}

function membersOf(members: readonly GroupMember[]): GroupMembers {
  const isLong = members.some((one) => one.kind === "top" || (one.kind === "property" && one.inner.isLong));
  return { members, isLong };
}

function constant(prefix: string, value: unknown): GroupMember {
  return { prefix, kind: "constant", json: JSON.stringify(value) };
}

/** Writes a group as JSON, what may be long in steps. */
export function writeGroup(
  { members, isLong }: GroupMembers,
  group: AggregateGroup,
  asked: AskedGroups,
  out: JsonBytes,
): Iterable<void> | undefined {
  if (isLong) return writeLongGroup(members, group, asked, out);
  if (members.length === 0) out.byte(123);
  for (const member of members) writeMember(member, group, asked, out);
  out.byte(125);
  return undefined;
}

function* writeLongGroup(
  members: readonly GroupMember[],
  group: AggregateGroup,
  asked: AskedGroups,
  out: JsonBytes,
): Generator<void, void> {
  for (const member of members) {
    const rest = writeMember(member, group, asked, out);
    if (rest !== undefined) yield* rest;
  }
  out.byte(125);
}

function writeMember(
  member: GroupMember,
  group: AggregateGroup,
  asked: AskedGroups,
  out: JsonBytes,
): Iterable<void> | undefined {
  out.ascii(member.prefix);
  if (member.kind === "property") return writeGroup(member.inner, group, asked, out);
  if (member.kind === "constant") out.utf8(member.json);
  else if (member.kind === "value") writeScalar(aggregatedValue(group.properties[member.property], member.field), out);
  else if (member.kind === "meta") writeJson({ count: group.objectCount }, member.selection, out);
  else if (member.kind === "groupedBy") {
    const { groupedBy: value } = group;
    writeJson(value === undefined ? null : { path: asked.path, value }, member.selection, out);
  } else {
    const of = group.properties[member.property];
    const all = of?.kind === "texts" ? of.topOccurrences : [];
    const first = all.slice(0, asked.topLimits[member.limit]) as readonly Json[];
    return writeList(first, out, (one) => void writeJson(one, member.selection, out));
  }
  return undefined;
}

/**
 * What a field of an aggregated property answers, `topOccurrences` and what the definition alone tells aside. Null for
 * what does not exist, of nothing or beyond float64: the mean of no numbers, the sum of huge ones. A share of nothing
 * is 0, as sums are (reference-graphql 4.4).
 */
function aggregatedValue(of: PropertyAggregate | undefined, field: string): number | string | null {
  if (of === undefined) return null;
  if (of.kind === "booleans" && field === "percentageTrue") return share(of.totalTrue, of.count);
  if (of.kind === "booleans" && field === "percentageFalse") return share(of.totalFalse, of.count);
  // All others have the names that the query gives them.
  const value = (of as unknown as Readonly<Record<string, number | string | undefined>>)[field];
  return value === undefined || (typeof value === "number" && !Number.isFinite(value)) ? null : value;
}

function share(part: number, all: number): number {
  return all === 0 ? 0 : part / all;
}
