import { ShoalError } from "@shoal/model";
import { type FieldNode, type GraphQLFieldResolver, type GraphQLObjectType, getNamedType, isUnionType } from "graphql";
import type { HeldAnswer } from "../../answer-budget.js";
import { shortestFloat32 } from "../../json/float32.js";
import { fieldOfRequest } from "../module-values.js";
import { targetClasses, targetsOf } from "../reference-selection.js";
import { fieldNames, selectedSubfields } from "../selected-fields.js";
import { classificationOf, memberOf, type PlainContext, PlainRow } from "./plain-row.js";

/** What answers the fields of a class for one row; none of it waits for anything. */
export interface ClassResolvers {
  property(name: string): GraphQLFieldResolver<unknown, unknown>;
  references(name: string): GraphQLFieldResolver<unknown, unknown>;
  readonly additional: GraphQLFieldResolver<unknown, unknown>;
}

export const CLASS_RESOLVERS: ClassResolvers = {
  property: (name) => (source, _args, context) => {
    const { answer, reached } = context as PlainContext;
    if (reached.isOver) return null;
    const value = memberOf(rowOf(source).properties, name);
    // Counted by the least that its text takes: where it is reached often, the answer grows by it each time.
    if (typeof value === "string" || Array.isArray(value)) answer.addText(value.length);
    return value;
  },
  references: (name) => {
    // graphql-js hands over the same list of nodes for all rows of a request, and another one for another request.
    const classesByNodes = new WeakMap<readonly FieldNode[], readonly string[]>();
    return (source, _args, context, info) => {
      let classes = classesByNodes.get(info.fieldNodes);
      if (classes === undefined) {
        const union = getNamedType(info.returnType);
        classes = isUnionType(union) ? targetClasses(info, union, info.fieldNodes) : [];
        classesByNodes.set(info.fieldNodes, classes);
      }
      const targets = targetsOf(rowOf(source).references?.get(name), classes);
      return targets && (context as PlainContext).reached.targets(targets);
    };
  },
  additional: (source, _args, context, info) =>
    additionalOf(
      rowOf(source),
      (context as PlainContext).answer,
      fieldNames(selectedSubfields(info, info.returnType as GraphQLObjectType, info.fieldNodes)),
    ),
};

/** Null when none of the wanted values exists for the row; values that do not exist are null beside others. */
function additionalOf(
  row: PlainRow,
  answer: HeldAnswer,
  wanted: ReadonlySet<string>,
): Readonly<Record<string, unknown>> | null {
  // Nobody will see what is made of the other rows.
  if (answer.refusal !== undefined) return null;
  const values: Record<string, unknown> = {};
  if (wanted.has("id")) values.id = row.id;
  if (!row.isTarget) {
    if (wanted.has("certainty") && row.certainty !== undefined) {
      values.certainty = Number.isNaN(row.certainty) ? null : shortestFloat32(row.certainty);
    }
    if (wanted.has("vector")) values.vector = Array.from(row.object?.vector ?? [], shortestFloat32);
    const classification = wanted.has("classification") ? classificationOf(row.object) : undefined;
    if (classification !== undefined) values.classification = classification;
    for (const [key, value] of row.added) if (value !== null && wanted.has(fieldOfRequest(key))) values[key] = value;
  }
  return Object.keys(values).length === 0 ? null : values;
}

function rowOf(source: unknown): PlainRow {
  if (source instanceof PlainRow) return source;
  throw new ShoalError("internal", "a class field was resolved on something that is no row");
}
