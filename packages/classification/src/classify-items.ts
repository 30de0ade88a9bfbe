import {
  decodeProperties,
  type Json,
  type ObjectId,
  type ObjectMerge,
  referenceTo,
  ShoalError,
  type StoredObject,
} from "@shoal/model";
import type { ClassifiedReference } from "@shoal/module-api";
import type { JobCounts } from "@shoal/rpc";
import { eventLoop, type RequestContext } from "@shoal/runtime";
import type { PreparedRun } from "./classification-run.js";
import { writeMerges } from "./write-merges.js";

/**
 * So many items are looked at side by side: searches that wait for a thread with the same filter are done in one scan. Between
 * two items the work yields.
 */
const SIDE_BY_SIDE = 8;
/** What an item may take before it has failed. */
const ITEM_MS = 30_000;
const WRITE_MS = 60_000;

/** Says that the failure is not the item's: it goes when it is tried again later. */
const PASSING: ReadonlySet<ShoalError["code"]> = new Set(["unavailable", "overloaded", "deadlineExceeded"]);

export function isPassing(thrown: unknown): boolean {
  return PASSING.has(ShoalError.from(thrown).code);
}

/**
 * Classifies items and writes what came out, one request a shard. An item that fails is counted and left as it is; one that
 * somebody has deleted or labelled meanwhile is left to him and not counted. Fails when the work cannot go on for now, when
 * nobody works on an item any more and those that were classified are written.
 */
export async function classifyItems(
  prepared: PreparedRun,
  items: readonly StoredObject[],
  nowMs: () => number,
  signal: AbortSignal,
): Promise<JobCounts> {
  const errors: string[] = [];
  const merges: ObjectMerge[] = [];
  /** The first failure that passes: no more items are begun. */
  let stop: { readonly thrown: unknown } | undefined;
  const fail = (id: ObjectId, error: unknown) => {
    if (isPassing(error) && ShoalError.from(error).code !== "deadlineExceeded") {
      stop ??= { thrown: error };
      return;
    }
    errors.push(`classify ${prepared.run.request.class}/${id}: ${ShoalError.from(error).message}`);
  };
  const left = items[Symbol.iterator]();
  const work = async (): Promise<void> => {
    for (const item of left) {
      await eventLoop.room();
      if (stop !== undefined || signal.aborted) return;
      try {
        const references = await classified(prepared, item, { deadline: nowMs() + ITEM_MS, signal });
        merges.push(mergeOf(prepared, item.id, references, nowMs()));
      } catch (thrown) {
        if (!signal.aborted) fail(item.id, thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  signal.throwIfAborted();
  // Classifying may have taken long.
  const context = { deadline: nowMs() + WRITE_MS, signal };
  await prepared.run.requireRights(context);
  let succeeded = 0;
  for (const { id, outcome } of await writeMerges(prepared.run, merges, context)) {
    if (outcome === "written") succeeded++;
    else if (outcome !== "left") fail(id, outcome);
  }
  if (stop !== undefined) throw stop.thrown;
  return { succeeded, failed: errors.length, errors };
}

function classified({ classifier, run }: PreparedRun, item: StoredObject, context: RequestContext) {
  const { id, vector } = item;
  const properties = run.needsProperties ? decodeProperties(item) : {};
  return classifier.classify({ id, vector, properties }, context);
}

function mergeOf(
  { run }: PreparedRun,
  id: ObjectId,
  references: readonly ClassifiedReference[],
  nowMs: number,
): ObjectMerge {
  const { request, job, parts } = run;
  const { beaconScheme, classificationBasedOnNamed } = parts.profile;
  const set: Record<string, readonly Json[]> = {};
  for (const { property, target, meta } of references) {
    set[property] = [{ ...referenceTo(target.id, beaconScheme), classification: meta }];
  }
  const classification = {
    basedOn: classificationBasedOnNamed ? (request.basedOnProperties[0] ?? null) : null,
    classifiedFields: references.map(({ property }) => property),
    completed: new Date(nowMs).toISOString(),
    id: job.id,
    scope: request.classifyProperties,
  };
  const additional = { classification };
  return {
    id,
    set,
    clear: [],
    append: {},
    remove: {},
    vector: undefined,
    additional,
    ifEmpty: request.classifyProperties,
  };
}
