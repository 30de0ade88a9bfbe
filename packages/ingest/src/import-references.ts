import { isOutdated } from "@shoal/cluster";
import {
  type JsonObject,
  LOCAL_HOST,
  type ObjectId,
  type ObjectMerge,
  parseLongBeacon,
  parseShortBeacon,
  propertyValidator,
  quoteText,
  referenceTo,
  ShoalError,
  unknownClass,
  writeLongBeacon,
  writeShortBeacon,
} from "@shoal/model";
import type { ClassRecord } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import { definitionsOf, refuseTenant } from "./check-object.js";
import { type ChunkedWork, groupByShard, type ShardGroup, storeInChunks } from "./chunks.js";
import type { IngestParts } from "./ingest-parts.js";
import type { ReferenceInput, ReferenceOutcome } from "./ingest-service.js";
import { IngestYielder } from "./ingest-yielder.js";

/** A reference of a batch that passed all checks. */
interface ReferenceItem {
  /** Its place in the batch. */
  readonly index: number;
  readonly written: ReferenceInput;
  readonly record: ClassRecord;
  readonly id: ObjectId;
  readonly property: string;
  /** In its stored form. */
  readonly reference: JsonObject;
}

/** What a batch adds to one object. */
interface ObjectReferences {
  readonly id: ObjectId;
  readonly items: ReferenceItem[];
}

/**
 * A batch of references (reference-rest 6.2, decisions.md). Items are independent; whether a target exists is not asked.
 * The references of one object become one change of it, in their order, and the changes of a shard one request. Fails as
 * a whole on an empty list and with `deadlineExceeded`; what was acknowledged by then stays.
 */
export async function importReferences(
  parts: IngestParts,
  inputs: readonly ReferenceInput[],
  context: RequestContext,
): Promise<readonly ReferenceOutcome[]> {
  if (inputs.length === 0) {
    throw new ShoalError("invalid", "the batch has no references: it needs at least one");
  }
  const planned = parts.schema.snapshot;
  let { items, outcomes } = await checkItems(parts, inputs, context);
  // A refusal may be that of a schema which is no longer the one: nothing is written yet.
  if (items.length < inputs.length && (await isOutdated(parts.schema, planned, context))) {
    ({ items, outcomes } = await checkItems(parts, inputs, context));
  }
  await Promise.all(
    groupByShard(parts.router, items, (item) => item).map((group) => storeReferences(parts, group, outcomes, context)),
  );
  return outcomes.map((outcome, index) => {
    if (outcome !== undefined) return outcome;
    throw new ShoalError("internal", `item ${index} of the batch has no outcome`);
  });
}

async function checkItems(parts: IngestParts, inputs: readonly ReferenceInput[], context: RequestContext) {
  const outcomes = new Array<ReferenceOutcome | undefined>(inputs.length);
  const items: ReferenceItem[] = [];
  const yielder = new IngestYielder(parts, context);
  for (const [index, input] of inputs.entries()) {
    const item = check(parts, input, index);
    if (item instanceof ShoalError) outcomes[index] = { error: item };
    else items.push(item);
    if (yielder.isDue) await yielder.next();
  }
  return { items, outcomes };
}

/** The reference as it goes to its shard, or all that is wrong with its beacons in one message, or with its source. */
function check(parts: IngestParts, input: ReferenceInput, index: number): ReferenceItem | ShoalError {
  const from = parsed(() => parseLongBeacon(input.from));
  const to = parsed(() => parseTarget(input.to));
  if (from instanceof ShoalError) return to instanceof ShoalError ? joined(from, to) : from;
  if (to instanceof ShoalError) return to;
  const { className, id, property } = from;
  const record = parts.schema.classRecord(className);
  if (record === undefined) return unknownClass(className, definitionsOf(parts.schema));
  const { beaconScheme } = parts.profile;
  const fault = parsed(() => {
    refuseTenant(input);
    propertyValidator(record.definition, beaconScheme).requireReference(property);
  });
  if (fault !== undefined) return fault;
  const written = { from: writeLongBeacon(beaconScheme, from), to: writeShortBeacon(beaconScheme, to) };
  return { index, written, record, id, property, reference: referenceTo(to, beaconScheme) };
}

function parseTarget(text: string): ObjectId {
  const { host, id } = parseShortBeacon(text);
  if (host === LOCAL_HOST) return id;
  throw new ShoalError("invalid", `the host of a beacon must be '${LOCAL_HOST}', got ${quoteText(host)}`);
}

function parsed<Result>(parse: () => Result): Result | ShoalError {
  try {
    return parse();
  } catch (refusal) {
    return ShoalError.from(refusal);
  }
}

function joined(from: ShoalError, to: ShoalError): ShoalError {
  return new ShoalError("invalid", `${from.message}, ${to.message}`);
}

/** A shard that fails takes only its own items with it. Fails with `deadlineExceeded` when the deadline passes. */
function storeReferences(
  parts: Pick<IngestParts, "router" | "nowMs" | "limits" | "rightsOf">,
  { shard, items }: ShardGroup<ReferenceItem>,
  outcomes: (ReferenceOutcome | undefined)[],
  context: RequestContext,
): Promise<void> {
  const work: ChunkedWork<ObjectReferences> = {
    className: shard.className,
    actions: ["update_data"],
    end: (from) => from + parts.limits.chunkObjectsMax,
    store: async (chunk) => {
      const results = await parts.router.node(shard).mergeObjects(shard, chunk.map(mergeOf), context);
      for (const [at, object] of chunk.entries()) {
        const result =
          results[at] ?? new ShoalError("internal", `shard '${shard.shardName}' gave no outcome of a merge`);
        tell(object, result instanceof ShoalError ? result : undefined, outcomes);
      }
    },
    onFailed: (object, error) => tell(object, error, outcomes),
  };
  return storeInChunks(parts, byObject(items), work, context);
}

function tell(
  { items }: ObjectReferences,
  error: ShoalError | undefined,
  outcomes: (ReferenceOutcome | undefined)[],
): void {
  for (const { index, written } of items) outcomes[index] = error === undefined ? { written } : { error };
}

function byObject(items: readonly ReferenceItem[]): readonly ObjectReferences[] {
  const objects = new Map<ObjectId, ObjectReferences>();
  for (const item of items) {
    const object = objects.get(item.id);
    if (object === undefined) objects.set(item.id, { id: item.id, items: [item] });
    else object.items.push(item);
  }
  return [...objects.values()];
}

/** One change of an object for all of its references. */
function mergeOf({ id, items }: ObjectReferences): ObjectMerge {
  const lists = new Map<string, JsonObject[]>();
  for (const { property, reference } of items) {
    const list = lists.get(property);
    if (list === undefined) lists.set(property, [reference]);
    else list.push(reference);
  }
  return { id, set: {}, clear: [], append: Object.fromEntries(lists), remove: {}, vector: undefined };
}
