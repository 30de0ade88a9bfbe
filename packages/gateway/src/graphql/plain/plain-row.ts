import { decodeProperties, type Json, type JsonObject, type ObjectId, type StoredObject } from "@shoal/model";
import type { GetRow, ReferencedRow } from "@shoal/query";
import type { RequestContext } from "@shoal/runtime";
import type { HeldAnswer } from "../../answer-budget.js";
import type { IntrospectionContext } from "./introspect-in-turns.js";

/** What resolvers know of the request. */
export interface PlainContext extends IntrospectionContext {
  readonly request: RequestContext;
  /** Counts what the answer takes. */
  readonly answer: HeldAnswer;
  readonly reached: TargetRows;
}

/** Hands out the rows of an answer. */
export interface TargetRows {
  /** Nobody will see what is made of the other rows: the answer is refused, or comes too late. */
  readonly isOver: boolean;
  /** The rows of a class field, as {@link targets}. */
  rows(rows: readonly PlainRow[]): readonly (PlainRow | null | Promise<PlainRow | null>)[];
  /** The rows that a property refers to; those of later turns are promises, for which graphql-js waits. */
  targets(targets: readonly ReferencedRow[]): readonly (PlainRow | null | Promise<PlainRow | null>)[] | null;
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
    /** What modules add, by the keys of the requests. */
    readonly added: ReadonlyMap<string, Json> = NOTHING_ADDED,
    /** The target of a reference: of its `_additional` only the id is filled (reference-graphql 2.5). */
    readonly isTarget = false,
  ) {}

  static isKnown(target: ReferencedRow): boolean {
    return TARGETS.has(target);
  }

  /** One for each target, however many rows refer to it: its properties are decoded once. */
  static ofTarget(target: ReferencedRow): PlainRow {
    const known = TARGETS.get(target);
    if (known !== undefined) return known;
    const row = new PlainRow(target.id, target.object, undefined, target.references, NOTHING_ADDED, true);
    TARGETS.set(target, row);
    return row;
  }

  get properties(): Readonly<Record<string, unknown>> {
    this.#properties ??= this.object === undefined ? {} : propertiesOf(this.object);
    return this.#properties;
  }
}

const NOTHING_ADDED: ReadonlyMap<string, Json> = new Map();

const TARGETS = new WeakMap<ReferencedRow, PlainRow>();

const PROPERTIES = new WeakMap<StoredObject, Readonly<Record<string, unknown>>>();

/** Decoded once, by however many selections the object is reached. */
function propertiesOf(object: StoredObject): Readonly<Record<string, unknown>> {
  let properties = PROPERTIES.get(object);
  if (properties === undefined) {
    properties = decodeProperties(object);
    PROPERTIES.set(object, properties);
  }
  return properties;
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
