import type { SchemaView } from "@shoal/cluster";
import {
  type BeaconScheme,
  type ClassDefinition,
  checkDimensions,
  isUncheckedObject,
  isVectorMissing,
  type JsonObject,
  type ObjectId,
  type Properties,
  parseObjectId,
  parseVector,
  parseVectorWeights,
  plainJsonObject,
  propertyValidator,
  quoteText,
  type ReferenceTarget,
  ShoalError,
  unknownClass,
  withPrefix,
} from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";
import type { ObjectInput, ReferenceInput } from "./ingest-service.js";
import { requireTargets } from "./locate-objects.js";

/** What a client sent beside id and vector, checked and in its stored form. */
export interface CheckedContent {
  readonly record: ClassRecord;
  readonly properties: Properties | undefined;
  readonly extras: JsonObject | undefined;
  /** What the properties refer to; whether it exists is not known yet. */
  readonly targets: readonly ReferenceTarget[];
}

/** All of an object that a single request writes. */
export interface CheckedObject {
  readonly content: CheckedContent;
  readonly vector: Float32Array | undefined;
}

/** Begins every message about the content of an object, and none about its vector. */
export const OBJECT_PREFIX = "invalid object: ";

/**
 * Content, existence of what it refers to, vector; fails with `invalid` on the first fault, with `unavailable` when the
 * existence of a target cannot be told. `id`: of the object that is replaced, which may keep what it refers to.
 */
export async function checkObject(
  id: ObjectId,
  input: ObjectInput,
  parts: Pick<IngestParts, "router" | "schema" | "wholeSchema" | "profile" | "limits">,
  context: RequestContext,
): Promise<CheckedObject> {
  const content = checkObjectContent(input, parts.schema, parts.profile.beaconScheme);
  try {
    await requireTargets(parts, content.targets, context, { record: content.record, id });
  } catch (fault) {
    throw withPrefix(OBJECT_PREFIX, fault);
  }
  return { content, vector: checkVector(input, content.record) };
}

/**
 * The checks of a new object, without writing it: not whether its id is free, and a vector may be left out
 * (reference-rest 3.9, decisions.md). One that is sent must fit.
 */
export async function validateObject(parts: IngestParts, input: ObjectInput, context: RequestContext): Promise<void> {
  parseBodyId(input.id);
  try {
    const { record, targets } = checkContent(input, classOf(input, parts.schema), parts.profile.beaconScheme);
    await requireTargets(parts, targets, context);
    const isKept = record.definition.vectorizer === "none";
    if (isKept && !isVectorMissing(input.vector)) checkGivenVector(input.vector, record);
  } catch (refusal) {
    throw withPrefix(OBJECT_PREFIX, refusal);
  }
}

/** The id in a body; undefined when there is none (absent or empty). Fails with `invalid` when it is no uuid. */
export function parseBodyId(text: string | undefined): ObjectId | undefined {
  if (text === undefined || text === "") return undefined;
  const id = parseObjectId(text);
  if (id === undefined) throw new ShoalError("invalid", `member 'id' must be a UUID, got ${quoteText(text)}`);
  return id;
}

/** Class and content, with messages as those of a single object begin. */
export function checkObjectContent(input: ObjectInput, schema: SchemaView, scheme: BeaconScheme): CheckedContent {
  try {
    return checkContent(input, classOf(input, schema), scheme);
  } catch (refusal) {
    throw withPrefix(OBJECT_PREFIX, refusal);
  }
}

/** The class that the object names. Fails with `invalid` when it names none or an unknown one. */
export function classOf(input: ObjectInput, schema: SchemaView): ClassRecord {
  const { className } = input;
  if (className === undefined || className === "") throw noClass();
  const record = schema.classRecord(className);
  if (record !== undefined) return record;
  throw unknownClass(className, definitionsOf(schema));
}

export function noClass(): ShoalError {
  return new ShoalError("invalid", "the object names no class: give it in the member 'class'");
}

/** The classes that there are, for suggestions. */
export function definitionsOf({ snapshot }: SchemaView): readonly ClassDefinition[] {
  return snapshot.classes.map(({ definition }) => definition);
}

/** What is not built, vector weights, properties, in this order; fails with `invalid` on the first fault. */
export function checkContent(input: ObjectInput, record: ClassRecord, scheme: BeaconScheme): CheckedContent {
  refuseUnbuiltMembers(input);
  const vectorWeights = parseVectorWeights(input.vectorWeights);
  const validator = propertyValidator(record.definition, scheme);
  const properties = validator.parse(input.properties);
  const targets = validator.referenceTargets(properties);
  return { record, properties, extras: extrasOf(vectorWeights, input.additional), targets };
}

/**
 * The vector that is stored with an object of this class: of the length of the class, once that is fixed. Undefined
 * when the class skips vector indexing and none was sent, and when it has a vectorizer: its vector replaces any that is
 * sent. Fails with `invalid`.
 */
export function checkVector(input: ObjectInput, record: ClassRecord): Float32Array | undefined {
  const { definition } = record;
  if (definition.vectorizer !== "none") return undefined;
  if (isVectorMissing(input.vector)) {
    if (definition.vectorIndexConfig.skip) return undefined;
    throw new ShoalError(
      "invalid",
      `class '${definition.class}' has no vectorizer, so every object brings its vector: the member 'vector' is missing or empty`,
    );
  }
  return checkGivenVector(input.vector, record);
}

/** A vector that was sent. Fails with `invalid`. */
export function checkGivenVector(value: unknown, record: ClassRecord): Float32Array {
  const vector = parseVector(value);
  if (record.dimensions !== undefined) {
    checkDimensions(record.definition.class, vector.length, record.dimensions);
  }
  return vector;
}

/** An empty `additional` counts as none (reference-rest 3.1). */
function extrasOf(vectorWeights: JsonObject | undefined, given: unknown): JsonObject | undefined {
  if (vectorWeights === undefined && (given === undefined || given === null)) return undefined;
  const additional = given === undefined || given === null ? {} : plainJsonObject(given, "additional");
  const isEmpty = Object.keys(additional).length === 0;
  if (isEmpty && vectorWeights === undefined) return undefined;
  return { ...(isEmpty ? {} : { additional }), ...(vectorWeights === undefined ? {} : { vectorWeights }) };
}

/**
 * Fails with `invalid`, naming the member, when an object asks for a tenant or for named vectors (reference-today 5.6, 6.3).
 * Null, an empty text and no vector at all ask for nothing.
 */
export function refuseUnbuiltMembers({ tenant, vectors }: Pick<ObjectInput, "tenant" | "vectors">): void {
  if (tenant === undefined && vectors === undefined) return;
  refuseTenant({ tenant });
  if (vectors === undefined || vectors === null || (isUncheckedObject(vectors) && Object.keys(vectors).length === 0))
    return;
  throw new ShoalError(
    "invalid",
    "vectors: named vectors are asked for, which this server does not have: leave it out, and send one list of numbers as `vector`",
  );
}

/** The same for the tenant alone. */
export function refuseTenant({ tenant }: Pick<ObjectInput | ReferenceInput, "tenant">): void {
  if (tenant === undefined || tenant === null || tenant === "") return;
  const shown = JSON.stringify(tenant)?.slice(0, SHOWN_CHARS_MAX);
  throw new ShoalError("invalid", `tenant: ${shown} asks for tenants, which this server does not have: leave it out`);
}

const SHOWN_CHARS_MAX = 100;
