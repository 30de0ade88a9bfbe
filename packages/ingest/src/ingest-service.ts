import type { DataObject, ObjectId, PutTimes, ShoalError } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";

/**
 * An object as a client sent it, parsed from JSON and otherwise unchecked. Members that were absent or null are
 * undefined. Numbers whose literal matters (not exactly a JavaScript number, or written like `1.0`) are JsonNumber.
 */
export interface ObjectInput {
  /** As typed. */
  readonly id: string | undefined;
  readonly className: string | undefined;
  readonly properties: unknown;
  /** Numbers that have been read already are a Float32Array. */
  readonly vector: unknown;
  readonly vectorWeights: unknown;
  readonly additional: unknown;
  /** Not built: see `refuseUnbuiltMembers`. */
  readonly tenant?: unknown;
  readonly vectors?: unknown;
}

/** What was stored, for the echo. */
export interface WrittenObject extends PutTimes {
  readonly object: DataObject;
}

/** The outcome of one batch item: what was stored, or why not, together with the id it had or would have had. */
export type BatchOutcome =
  | { readonly written: WrittenObject }
  | { readonly error: ShoalError; readonly id: string; readonly input: ObjectInput };

/** A reference of a batch as a client sent it; what was absent or null is empty. */
export interface ReferenceInput {
  /** A long beacon: the property of an object that refers. */
  readonly from: string;
  /** A short beacon: the object that is referred to. */
  readonly to: string;
  /** Not built: see `refuseTenant`. */
  readonly tenant?: unknown;
}

/** The outcome of one reference of a batch: its beacons in their canonical form, or why it was not added. */
export type ReferenceOutcome = { readonly written: ReferenceInput } | { readonly error: ShoalError };

/** Writes across shards: id, validation, dimension, routing, uniqueness. */
export interface IngestService {
  createObject(input: ObjectInput, context: RequestContext): Promise<WrittenObject>;
  replaceObject(id: ObjectId, input: ObjectInput, context: RequestContext): Promise<WrittenObject>;
  mergeObject(id: ObjectId, input: ObjectInput, context: RequestContext): Promise<void>;
  /** False when no class has the id. */
  deleteObject(id: ObjectId, context: RequestContext): Promise<boolean>;
  validateObject(input: ObjectInput, context: RequestContext): Promise<void>;
  /** Items are independent: one outcome each, in order. Fails as a whole only on malformed ids or an empty list. */
  importObjects(
    inputs: readonly (ObjectInput | undefined)[],
    context: RequestContext,
  ): Promise<readonly BatchOutcome[]>;
  /** Appends a reference to a property of an object. */
  addReference(id: ObjectId, property: string, beacon: string, context: RequestContext): Promise<void>;
  /** Replaces all references of a property. */
  replaceReferences(id: ObjectId, property: string, beacons: readonly string[], context: RequestContext): Promise<void>;
  /**
   * Takes, for each beacon, the first reference to the same object out of a property; one that is not there is no fault.
   * Fails with `notFound` for an unknown object and for a property that holds no references.
   */
  removeReferences(id: ObjectId, property: string, beacons: readonly string[], context: RequestContext): Promise<void>;
  /** Items are independent: one outcome each, in order. Fails as a whole only on an empty list. */
  importReferences(inputs: readonly ReferenceInput[], context: RequestContext): Promise<readonly ReferenceOutcome[]>;
}
