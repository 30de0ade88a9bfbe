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
import { compileJson, type JsonSelection, writeJson, writeScalar } from "./json-selection.js";
import { writeList } from "./planned-call.js";
import { type SelectedFields, selectedSubfields } from "./selected-fields.js";

/** What was asked for, beside what came back. */
interface AskedGroups {
  /** Of `groupBy`. */
  readonly path: readonly string[];
  /** In the order of {@link GroupPlaces.tops}. */
  readonly topLimits: readonly number[];
}

/**
 * Writes a value of a group as JSON, what may be long ({@link LONG}) in turns. Made by functions of their own: a closure keeps all that is
 * in sight where it is made.
 */
export type WriteGroup = (group: AggregateGroup, asked: AskedGroups, out: JsonBytes) => Iterable<void> | undefined;

/** Writers of what may be long. */
const LONG = new WeakSet<WriteGroup>();

/** Where the answer of the query has what the fields of a group answer. */
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
): WriteGroup {
  return compileObject(selected, (field, nodes) => {
    const name = field.name.value;
    if (name === "__typename") return constant(type.name);
    const inner = objectTypeOf(type, name);
    if (name === "meta") return metaWriter(compileJson(scope, inner, nodes));
    if (name === "groupedBy") return groupedByWriter(compileJson(scope, inner, nodes));
    return compileProperty(scope, definition, places, inner, name, nodes);
  });
}

function compileProperty(
  scope: CompileScope,
  definition: ClassDefinition,
  places: GroupPlaces,
  type: GraphQLObjectType,
  property: string,
  nodes: readonly FieldNode[],
): WriteGroup {
  const dataType = definition.properties?.find((each) => each.name === property)?.dataType ?? [];
  const place = places.properties.indexOf(property);
  return compileObject(selectedSubfields(scope, type, nodes), (field, innerNodes) => {
    const name = field.name.value;
    if (name === "__typename") return constant(type.name);
    // reference-graphql 4.2
    if (name === "type") return constant(primitiveDataType(dataType) ?? "cref");
    if (name === "pointingTo") return constant(dataType);
    if (name !== "topOccurrences") return valueWriter(place, name);
    return topWriter(place, places.tops.indexOf(field), compileJson(scope, objectTypeOf(type, name), innerNodes));
  });
}

function compileObject(
  selected: SelectedFields,
  compile: (field: FieldNode, nodes: readonly FieldNode[]) => WriteGroup,
): WriteGroup {
  return objectWriter(
    eachField(selected, (responseName, field, nodes, i) => ({
      prefix: `${i === 0 ? "{" : ","}"${responseName}":`,
      write: compile(field, nodes),
    })),
  );
}

interface GroupMember {
  readonly prefix: string;
  readonly write: WriteGroup;
}

function objectWriter(members: readonly GroupMember[]): WriteGroup {
  if (members.some(({ write }) => LONG.has(write))) return longObjectWriter(members);
  return (group, asked, out) => {
    if (members.length === 0) out.byte(123);
    for (const { prefix, write } of members) {
      out.ascii(prefix);
      write(group, asked, out);
    }
    out.byte(125);
    return undefined;
  };
}

function longObjectWriter(members: readonly GroupMember[]): WriteGroup {
  const write: WriteGroup = function* (group, asked, out) {
    for (const member of members) {
      out.ascii(member.prefix);
      const rest = member.write(group, asked, out);
      if (rest !== undefined) yield* rest;
    }
    out.byte(125);
  };
  LONG.add(write);
  return write;
}

function constant(value: unknown): WriteGroup {
  const json = JSON.stringify(value);
  return (_group, _asked, out) => {
    out.utf8(json);
    return undefined;
  };
}

function metaWriter(selection: JsonSelection): WriteGroup {
  return ({ objectCount }, _asked, out) => {
    writeJson({ count: objectCount }, selection, out);
    return undefined;
  };
}

function groupedByWriter(selection: JsonSelection): WriteGroup {
  return ({ groupedBy: value }, { path }, out) => {
    writeJson(value === undefined ? null : { path, value }, selection, out);
    return undefined;
  };
}

function valueWriter(place: number, field: string): WriteGroup {
  return ({ properties }, _asked, out) => {
    writeScalar(aggregatedValue(properties[place], field), out);
    return undefined;
  };
}

function topWriter(place: number, limit: number, selection: JsonSelection): WriteGroup {
  const write: WriteGroup = ({ properties }, { topLimits }, out) => {
    const of = properties[place];
    const all = of?.kind === "texts" ? of.topOccurrences : [];
    const first = all.slice(0, topLimits[limit]) as readonly Json[];
    return writeList(first, out, (one) => void writeJson(one, selection, out));
  };
  LONG.add(write);
  return write;
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
