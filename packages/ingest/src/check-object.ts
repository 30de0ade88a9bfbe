import type { SchemaView } from "@shoal/cluster";
import {
  type BeaconScheme,
  checkDimensions,
  isVectorMissing,
  type JsonObject,
  type Properties,
  parseVector,
  parseVectorWeights,
  plainJsonObject,
  propertyValidator,
  ShoalError,
  withPrefix,
} from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { ObjectInput } from "./ingest-service.js";

/** What a client sent beside id and vector, checked and in its stored form. */
export interface CheckedContent {
  readonly record: ClassRecord;
  readonly properties: Properties | undefined;
  readonly extras: JsonObject | undefined;
}

/** All of an object that a single request writes. */
export interface CheckedObject {
  readonly content: CheckedContent;
  readonly vector: Float32Array | undefined;
}

/** Content, then vector; fails with `invalid` on the first fault (its prefix tells the content's from the vector's). */
export function checkObject(input: ObjectInput, schema: SchemaView, scheme: BeaconScheme): CheckedObject {
  let content: CheckedContent;
  try {
    content = checkContent(input, schema, scheme);
  } catch (refusal) {
    throw withPrefix("invalid object: ", refusal);
  }
  return { content, vector: checkVector(input, content.record) };
}

/** The class that the object names. Fails with `invalid` when it names none or an unknown one. */
export function classOf(input: ObjectInput, schema: SchemaView): ClassRecord {
  const { className } = input;
  if (className === undefined || className === "") throw new ShoalError("invalid", "the given class is empty");
  const record = schema.classRecord(className);
  if (record !== undefined) return record;
  throw new ShoalError("invalid", `class '${className}' not present in schema`);
}

/** Class, vector weights, properties, in this order; fails with `invalid` on the first fault. */
export function checkContent(input: ObjectInput, schema: SchemaView, scheme: BeaconScheme): CheckedContent {
  const record = classOf(input, schema);
  const vectorWeights = parseVectorWeights(input.vectorWeights);
  const properties = propertyValidator(record.definition, scheme).parse(input.properties);
  return { record, properties, extras: extrasOf(vectorWeights, input.additional) };
}

/**
 * The vector that is stored with an object of this class: of the length of the class, once that is fixed. Undefined
 * only when the class skips vector indexing and none was sent. Fails with `invalid`.
 */
export function checkVector(input: ObjectInput, record: ClassRecord): Float32Array | undefined {
  const { definition } = record;
  checkVectorizer(record);
  if (isVectorMissing(input.vector)) {
    if (definition.vectorIndexConfig.skip) return undefined;
    throw new ShoalError(
      "invalid",
      "this class is configured to use vectorizer 'none' thus a vector must be present when importing, " +
        "got: field 'vector' is empty or contains a zero-length vector",
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

/** Objects of a class with a vectorizer cannot be written without it. Fails with `invalid`. */
export function checkVectorizer({ definition }: ClassRecord): void {
  if (definition.vectorizer === "none") return;
  throw new ShoalError(
    "invalid",
    `class '${definition.class}' uses the vectorizer '${definition.vectorizer}', but no module of that name is present`,
  );
}

function extrasOf(vectorWeights: JsonObject | undefined, additional: unknown): JsonObject | undefined {
  if (vectorWeights === undefined && (additional === undefined || additional === null)) return undefined;
  return {
    ...(additional === undefined || additional === null
      ? {}
      : { additional: plainJsonObject(additional, "additional") }),
    ...(vectorWeights === undefined ? {} : { vectorWeights }),
  };
}
