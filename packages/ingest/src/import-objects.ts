import { isOutdated } from "@shoal/cluster";
import { checkDimensions, type ObjectId, type ReferenceTarget, ShoalError } from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { DeferredItems } from "./auto-schema/deferred-items.js";
import { type CheckedContent, checkContent, checkVector, classOf, noClass, parseBodyId } from "./check-object.js";
import type { IngestParts } from "./ingest-parts.js";
import type { BatchOutcome, ObjectInput } from "./ingest-service.js";
import { IngestYielder } from "./ingest-yielder.js";
import { keptReferences } from "./kept-references.js";
import { locateObjects, targetFault } from "./locate-objects.js";
import { type BatchItem, storeBatch } from "./store-batch.js";
import { dataObject, freshId } from "./store-object.js";
import { vectorizedObjects } from "./vectorize-objects.js";

const NOTHING: ObjectInput = {
  id: undefined,
  className: undefined,
  properties: undefined,
  vector: undefined,
  vectorWeights: undefined,
  additional: undefined,
};

/** One for all: an error takes microseconds and a kilobyte, and a batch of nulls has many. */
const EMPTY_ITEM = noClass();

/**
 * A batch (reference-rest 6.1, decisions.md). Items are independent: each is checked on its own, and those that pass
 * go to their shards, grouped. Existing ids are replaced; of equal ids in one batch the last one stays. Fails as a whole
 * on an empty list, on a malformed id, and with `deadlineExceeded`; what was acknowledged by then stays.
 */
export async function importObjects(
  parts: IngestParts,
  inputs: readonly (ObjectInput | undefined)[],
  context: RequestContext,
): Promise<readonly BatchOutcome[]> {
  if (inputs.length === 0) {
    throw new ShoalError("invalid", "invalid param 'objects': cannot be empty, need at least one object for batching");
  }
  const ids = inputs.map((input) => parseBodyId(input?.id)).map((id) => id ?? freshId(parts.newId));
  const planned = parts.schema.snapshot;
  let batch = await checkItems(parts, inputs, ids, context);
  // A refusal, or what seems to be new, may be due to an old schema: nothing is changed yet.
  if (batch.items.length < inputs.length && (await isOutdated(parts.schema, planned, context))) {
    batch = await checkItems(parts, inputs, ids, context);
  }
  const { items, outcomes, deferred } = batch;
  if (!deferred.isEmpty) await admitDeferred(deferred, items, outcomes, context);
  const found = await withTargets(parts, items, outcomes, context);
  const vectorized = await withVectors(parts, found, outcomes, context);
  const fitting = await holdDimensions(parts, vectorized, outcomes, context);
  await storeBatch(parts, fitting, outcomes, context);
  return outcomes.map((outcome, index) => {
    if (outcome !== undefined) return outcome;
    throw new ShoalError("internal", `item ${index} of the batch has no outcome`);
  });
}

/** Items by what ordinary checks say of them: they may be stored, are refused, or auto-schema decides. */
interface CheckedBatch {
  readonly items: CheckedItem[];
  readonly outcomes: (BatchOutcome | undefined)[];
  readonly deferred: DeferredItems;
}

async function checkItems(
  parts: IngestParts,
  inputs: readonly (ObjectInput | undefined)[],
  ids: readonly ObjectId[],
  context: RequestContext,
): Promise<CheckedBatch> {
  const outcomes = new Array<BatchOutcome | undefined>(inputs.length);
  const items: CheckedItem[] = [];
  const deferred = new DeferredItems(parts);
  const yielder = new IngestYielder(parts, context);
  for (const [index, id] of ids.entries()) {
    const given = inputs[index];
    const input = given ?? NOTHING;
    if (given === undefined) outcomes[index] = { error: EMPTY_ITEM, id, input };
    else if (!deferred.foresees({ index, id, input })) {
      const checked = check(parts, input, id);
      if (!(checked instanceof ShoalError)) items.push({ index, input, ...checked });
      else if (!deferred.takesOver({ index, id, input })) outcomes[index] = { error: checked, id, input };
    }
    if (yielder.isDue) await yielder.next();
  }
  return { items, outcomes, deferred };
}

/** Puts the items that auto-schema takes to their places among the others. */
async function admitDeferred(
  deferred: DeferredItems,
  items: CheckedItem[],
  outcomes: (BatchOutcome | undefined)[],
  context: RequestContext,
): Promise<void> {
  const lengthOf = ({ classId }: ClassRecord) =>
    items.find(({ record, object }) => record.classId === classId && object.vector !== undefined)?.object.vector
      ?.length;
  for (const { item, outcome } of await deferred.decide(lengthOf, context)) {
    const { index, id, input } = item;
    if (outcome instanceof ShoalError) {
      outcomes[index] = { error: outcome, id, input };
      continue;
    }
    const { content, vector } = outcome;
    const { record, targets } = content;
    items.push({ index, input, record, object: dataObject(id, content, vector), targets, vectorFault: undefined });
  }
  items.sort((a, b) => a.index - b.index);
}

/** An item whose references may point nowhere, and what else is wrong with it. */
interface CheckedItem extends BatchItem {
  readonly targets: readonly ReferenceTarget[];
  readonly vectorFault: ShoalError | undefined;
}

/** The object as it goes to its shard, or all that is wrong with it in one message. */
function check(
  parts: IngestParts,
  input: ObjectInput,
  id: ObjectId,
): Omit<CheckedItem, "index" | "input"> | ShoalError {
  let content: CheckedContent;
  try {
    content = checkContent(input, classOf(input, parts.schema), parts.profile.beaconScheme);
  } catch (refusal) {
    return joined(ShoalError.from(refusal), otherFault(parts, input));
  }
  const { record, targets } = content;
  let vector: Float32Array | undefined;
  let vectorFault: ShoalError | undefined;
  try {
    vector = checkVector(input, record);
  } catch (refusal) {
    vectorFault = ShoalError.from(refusal);
    if (targets.length === 0) return vectorFault;
  }
  return { record, object: dataObject(id, content, vector), targets, vectorFault };
}

/** The items whose references all point to stored objects, which are asked for together. */
async function withTargets(
  parts: IngestParts,
  items: readonly CheckedItem[],
  outcomes: (BatchOutcome | undefined)[],
  context: RequestContext,
): Promise<readonly BatchItem[]> {
  if (items.every(({ targets }) => targets.length === 0)) return items;
  const planned = parts.schema.snapshot;
  let located = await locateObjects(parts, idsOfTargets(items), context);
  const isMissing = items.some(({ targets }) => targetFault(targets, located) !== undefined);
  // What is missing may be in a class that is not known here yet.
  if (isMissing && (await isOutdated(parts.schema, planned, context))) {
    located = await locateObjects(parts, idsOfTargets(items), context);
  }
  const lacking = items.filter(({ targets }) => targetFault(targets, located) !== undefined);
  const placeOf = ({ record, object: { id } }: CheckedItem) => ({ record, id });
  const keeps = await keptReferences(parts, lacking.map(placeOf), context);
  return items.filter((item) => {
    const { index, input, object, targets, vectorFault } = item;
    const missing = targetFault(targets, located, (target) => keeps(placeOf(item), target));
    const fault = missing === undefined ? vectorFault : joined(missing, vectorFault?.message);
    if (fault !== undefined) outcomes[index] = { error: fault, id: object.id, input };
    return fault === undefined;
  });
}

function* idsOfTargets(items: readonly CheckedItem[]): Iterable<ObjectId> {
  for (const { targets } of items) for (const { id } of targets) yield id;
}

/** The items that have the vector that the vectorizer of their class makes. */
async function withVectors(
  parts: IngestParts,
  items: readonly BatchItem[],
  outcomes: (BatchOutcome | undefined)[],
  context: RequestContext,
): Promise<readonly BatchItem[]> {
  if (items.every(({ record }) => record.definition.vectorizer === "none")) return items;
  const objects = await vectorizedObjects(parts, items, context);
  return items.flatMap((item, at) => {
    const object = objects[at] ?? item.object;
    if (!(object instanceof ShoalError)) return { ...item, object };
    outcomes[item.index] = { error: object, id: item.object.id, input: item.input };
    return [];
  });
}

/** What is wrong with the vector of an object whose other content was refused already. */
function otherFault(parts: IngestParts, input: ObjectInput): string | undefined {
  const { className } = input;
  if (className === undefined || className === "") return undefined;
  const record = parts.schema.classRecord(className);
  if (record === undefined) return undefined;
  try {
    checkVector(input, record);
    return undefined;
  } catch (refusal) {
    return ShoalError.from(refusal).message;
  }
}

function joined(refusal: ShoalError, other: string | undefined): ShoalError {
  return other === undefined ? refusal : new ShoalError(refusal.code, `${refusal.message}, ${other}`);
}

/** The items whose vectors have the length of their class, which the first of them fixes when it is open. */
async function holdDimensions(
  { dimensions }: IngestParts,
  items: readonly BatchItem[],
  outcomes: (BatchOutcome | undefined)[],
  context: RequestContext,
): Promise<readonly BatchItem[]> {
  const lengths = new Map<ClassRecord, number | ShoalError>();
  for (const { record, object } of items) {
    if (record.dimensions !== undefined || object.vector === undefined || lengths.has(record)) continue;
    lengths.set(record, await dimensions.fix(record, object.vector.length, context).catch(ShoalError.from));
  }
  if (lengths.size === 0) return items;
  return items.filter((item) => {
    const fault = dimensionFault(item, lengths.get(item.record));
    if (fault !== undefined) outcomes[item.index] = { error: fault, id: item.object.id, input: item.input };
    return fault === undefined;
  });
}

/** `length` is that of the class, why it could not be fixed, or undefined when it was known before. */
function dimensionFault(
  { record, object }: BatchItem,
  length: number | ShoalError | undefined,
): ShoalError | undefined {
  if (object.vector === undefined || length === undefined) return undefined;
  if (length instanceof ShoalError) return length;
  try {
    checkDimensions(record.definition.class, object.vector.length, length);
    return undefined;
  } catch (refusal) {
    return ShoalError.from(refusal);
  }
}
