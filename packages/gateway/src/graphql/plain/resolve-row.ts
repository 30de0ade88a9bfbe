import { decodeProperties, type JsonObject, type ObjectId, ShoalError, type StoredObject } from "@shoal/model";
import type { QueryService } from "@shoal/query";
import type { RequestContext } from "@shoal/rpc";
import type { GraphQLFieldResolver, GraphQLObjectType } from "graphql";
import { shortestFloat32 } from "../../json/float32.js";
import { fieldNames, selectedSubfields } from "../selected-fields.js";
import { resolveReferences } from "./resolve-references.js";

/** What resolvers know of the request. */
export interface PlainContext {
  readonly request: RequestContext;
}

/** A row on its way through graphql-js. */
export class PlainRow {
  #properties: Readonly<Record<string, unknown>> | undefined;

  constructor(
    readonly id: ObjectId,
    readonly object: StoredObject | undefined,
    /** Undefined without near*, NaN when the distance is not a number. */
    readonly certainty: number | undefined,
    /** The target of a reference: of its `_additional` only the id is filled (reference-graphql 2.5). */
    readonly isTarget = false,
  ) {}

  get properties(): Readonly<Record<string, unknown>> {
    this.#properties ??= this.object === undefined ? {} : decodeProperties(this.object);
    return this.#properties;
  }
}

export interface ClassResolvers {
  property(name: string): GraphQLFieldResolver<unknown, unknown>;
  references(name: string): GraphQLFieldResolver<unknown, unknown>;
  readonly additional: GraphQLFieldResolver<unknown, unknown>;
}

export function classResolvers(query: QueryService): ClassResolvers {
  return {
    property: (name) => (source) => memberOf(rowOf(source).properties, name),
    references: (name) => (source, _args, context, info) =>
      resolveReferences(memberOf(rowOf(source).properties, name), query, (context as PlainContext).request, info),
    additional: (source, _args, _context, info) =>
      additionalOf(
        rowOf(source),
        fieldNames(selectedSubfields(info, info.returnType as GraphQLObjectType, info.fieldNodes)),
      ),
  };
}

/** Own member of a JSON object, or null. */
export function memberOf(source: unknown, name: string): unknown {
  if (typeof source !== "object" || source === null || !Object.hasOwn(source, name)) return null;
  return (source as Readonly<Record<string, unknown>>)[name] ?? null;
}

/** The stored classification of an object, or undefined. */
export function classificationOf(object: StoredObject | undefined): JsonObject | undefined {
  const classification = memberOf(memberOf(object?.extras, "additional"), "classification");
  return typeof classification === "object" && classification !== null ? (classification as JsonObject) : undefined;
}

/** Null when none of the wanted values exists for the row; values that do not exist are null beside others. */
function additionalOf(row: PlainRow, wanted: ReadonlySet<string>): Readonly<Record<string, unknown>> | null {
  const values: Record<string, unknown> = {};
  if (wanted.has("id")) values.id = row.id;
  if (!row.isTarget) {
    if (wanted.has("certainty") && row.certainty !== undefined) {
      values.certainty = Number.isNaN(row.certainty) ? null : shortestFloat32(row.certainty);
    }
    if (wanted.has("vector")) values.vector = Array.from(row.object?.vector ?? [], shortestFloat32);
    const classification = wanted.has("classification") ? classificationOf(row.object) : undefined;
    if (classification !== undefined) values.classification = classification;
  }
  return Object.keys(values).length === 0 ? null : values;
}

function rowOf(source: unknown): PlainRow {
  if (source instanceof PlainRow) return source;
  throw new ShoalError("internal", "a class field was resolved on something that is no row");
}
