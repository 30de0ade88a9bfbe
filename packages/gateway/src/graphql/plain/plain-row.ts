import { decodeProperties, type JsonObject, type ObjectId, type StoredObject } from "@shoal/model";
import type { GetRow, ReferencedRow } from "@shoal/query";
import type { RequestContext } from "@shoal/rpc";
import type { HeldAnswer } from "../../answer-budget.js";
import type { IntrospectionContext } from "./introspect-in-turns.js";

/** What resolvers know of the request. */
export interface PlainContext extends IntrospectionContext {
  readonly request: RequestContext;
  /** Counts what the answer takes. */
  readonly answer: HeldAnswer;
}

/** A row on its way through graphql-js. */
export class PlainRow {
  #properties: Readonly<Record<string, unknown>> | undefined;

  constructor(
    readonly id: ObjectId,
    readonly object: StoredObject | undefined,
    /** Undefined without near*, NaN when the distance is not a number. */
    readonly certainty: number | undefined,
    readonly references: GetRow["references"],
    /** The target of a reference: of its `_additional` only the id is filled (reference-graphql 2.5). */
    readonly isTarget = false,
  ) {}

  /** One for each target, however many rows refer to it: its properties are decoded once. */
  static ofTarget(target: ReferencedRow): PlainRow {
    const known = TARGETS.get(target);
    if (known !== undefined) return known;
    const row = new PlainRow(target.id, target.object, undefined, target.references, true);
    TARGETS.set(target, row);
    return row;
  }

  get properties(): Readonly<Record<string, unknown>> {
    this.#properties ??= this.object === undefined ? {} : decodeProperties(this.object);
    return this.#properties;
  }
}

const TARGETS = new WeakMap<ReferencedRow, PlainRow>();

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
