import {
  checkDimensions,
  type DataObject,
  isUncheckedObject,
  type JsonObject,
  type ObjectMerge,
  type Properties,
  ShoalError,
  type StoredObject,
} from "@shoal/model";
import { NO_ENABLED_MODULES, type ObjectContent, type ObjectVector } from "@shoal/module-api";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { IngestParts } from "./ingest-parts.js";

type Parts = Pick<IngestParts, "modules">;

/** An object whose vector is wanted. */
interface Vectorized {
  readonly record: ClassRecord;
  readonly object: DataObject;
}

/**
 * The object with the vector of its class's vectorizer, in the length of the class; as it is when that is `none`. Fails
 * with `invalid` when the object says nothing to it or its module is not enabled, with `unavailable` when its back end is.
 */
export async function vectorizedObject(
  parts: Parts,
  record: ClassRecord,
  object: DataObject,
  context: RequestContext,
): Promise<DataObject> {
  if (record.definition.vectorizer === "none") return object;
  const [outcome] = await vectorizedObjects(parts, [{ record, object }], context);
  if (outcome === undefined || outcome instanceof ShoalError) throw outcome ?? NO_OUTCOME;
  return outcome;
}

/** What changes beside the properties when an object is to say these: its vector, and what its module stores with that. */
export async function vectorChange(
  parts: Parts,
  record: ClassRecord,
  { id, className, extras }: StoredObject,
  properties: Properties,
  context: RequestContext,
): Promise<Pick<ObjectMerge, "vector" | "additional">> {
  const vectorWeights = weightsOf(extras);
  const said = { id, className, properties, vector: undefined, extras: vectorWeights && { vectorWeights } };
  const { vector, extras: made } = await vectorizedObject(parts, record, said, context);
  const additional = made?.additional;
  return { vector, ...(isUncheckedObject(additional) && { additional: additional as JsonObject }) };
}

/** The same as `vectorizedObject` for many, one outcome each, in order. */
export async function vectorizedObjects(
  { modules = NO_ENABLED_MODULES }: Parts,
  items: readonly Vectorized[],
  context: RequestContext,
): Promise<readonly (DataObject | ShoalError)[]> {
  const outcomes: (DataObject | ShoalError)[] = items.map(({ object }) => object);
  for (const [record, places] of placesByClass(items)) {
    const { definition } = record;
    if (definition.vectorizer === "none") continue;
    try {
      const contents = places.flatMap((place) => contentOf(items[place]?.object) ?? []);
      const made = await modules.vectorizerOf(definition).vectorize(definition, contents, context);
      for (const [i, place] of places.entries()) {
        outcomes[place] = completed(record, outcomes[place] as DataObject, made[i] ?? NO_OUTCOME);
      }
    } catch (thrown) {
      const failure = ShoalError.from(thrown);
      for (const place of places) outcomes[place] = failure;
    }
  }
  return outcomes;
}

function placesByClass(items: readonly Vectorized[]): ReadonlyMap<ClassRecord, readonly number[]> {
  const byClass = new Map<ClassRecord, number[]>();
  for (const [place, { record }] of items.entries()) {
    const known = byClass.get(record);
    if (known === undefined) byClass.set(record, [place]);
    else known.push(place);
  }
  return byClass;
}

function contentOf(object: DataObject | undefined): ObjectContent | undefined {
  if (object === undefined) return undefined;
  return { id: object.id, properties: object.properties, vectorWeights: weightsOf(object.extras) };
}

function weightsOf(extras: JsonObject | undefined): JsonObject | undefined {
  const weights = extras?.vectorWeights;
  return isUncheckedObject(weights) ? (weights as JsonObject) : undefined;
}

function completed(record: ClassRecord, object: DataObject, made: ObjectVector | ShoalError): DataObject | ShoalError {
  if (made instanceof ShoalError) return made;
  const { vector, additional } = made;
  try {
    if (record.dimensions !== undefined) checkDimensions(record.definition.class, vector.length, record.dimensions);
  } catch (refusal) {
    return ShoalError.from(refusal);
  }
  if (additional === undefined) return { ...object, vector };
  const sent = object.extras?.additional;
  const all = { ...(isUncheckedObject(sent) ? (sent as JsonObject) : {}), ...additional };
  return { ...object, vector, extras: { ...object.extras, additional: all } };
}

const NO_OUTCOME = new ShoalError("internal", "a vectorizer gave no outcome for an object");
