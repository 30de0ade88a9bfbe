import { setTimeout as sleep } from "node:timers/promises";
import { type StoredObject, UnavailableHere } from "@shoal/model";
import type { JobCounts, RangeProgress } from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { ClaimedRange } from "./claimed-range.js";
import type { PreparedRun } from "./classification-run.js";
import { classifyItems, isPassing } from "./classify-items.js";

/** Items between two reports. */
const CHUNK = 100;
const READ_MS = 60_000;
const RETRY_MS = 500;
/** What does not pass in so long may take longer: others have their turn then. */
const PASSING_MS = 5_000;
const ERRORS_MAX = 10;

const MARKS = { properties: false, vector: false, extras: true } as const;

/**
 * Classifies the items of a range, chunk by chunk, in the order of their ids. A chunk is announced before it is written, and
 * every object that is written carries the job's id. Who goes on with an announced chunk therefore counts the objects in
 * it that carry the id and classifies the others: each item is counted once, whenever a process ends. Fails when it
 * cannot go on, also with failures that pass when they have not for {@link PASSING_MS}; with {@link UnavailableHere} at once, as
 * others may be able to go on.
 */
export async function classifyRange(prepared: PreparedRun, range: ClaimedRange, nowMs: () => number): Promise<void> {
  let { progress } = range.claim;
  let failingSinceMs: number | undefined;
  for (;;) {
    range.signal.throwIfAborted();
    const context = { deadline: nowMs() + READ_MS, signal: range.signal };
    try {
      await prepared.run.requireRights(context);
      const isBegun = progress.pendingUpTo !== "";
      const bound = isBegun ? progress.pendingUpTo : range.claim.upTo;
      const { items, end } = await nextItems(prepared, progress.after, bound, context);
      if (!isBegun) {
        if (items.length === 0) return await range.report(progress, "done");
        progress = { ...progress, pendingUpTo: end };
        await range.report(progress, "working");
      }
      progress = await finishChunk(prepared, progress, items, end, isBegun, nowMs, range.signal);
      failingSinceMs = undefined;
    } catch (thrown) {
      range.signal.throwIfAborted();
      failingSinceMs ??= nowMs();
      const mayPassHere = isPassing(thrown) && !(thrown instanceof UnavailableHere);
      if (!mayPassHere || nowMs() - failingSinceMs >= PASSING_MS) throw thrown;
      await sleep(RETRY_MS, undefined, { signal: range.signal });
    }
  }
}

async function finishChunk(
  prepared: PreparedRun,
  { after, pendingUpTo, counts }: RangeProgress,
  items: readonly StoredObject[],
  end: string,
  isBegun: boolean,
  nowMs: () => number,
  signal: AbortSignal,
): Promise<RangeProgress> {
  const context = { deadline: nowMs() + READ_MS, signal };
  const written = isBegun ? await countWritten(prepared, after, end, context) : 0;
  const open = items.filter((item) => !prepared.run.hasClassified(item));
  const done = await classifyItems(prepared, open, nowMs, signal);
  return {
    after: end,
    pendingUpTo: end < pendingUpTo ? pendingUpTo : "",
    counts: sum(counts, { ...done, succeeded: done.succeeded + written }),
  };
}

/** The next items up to the bound, and where they end: at the bound itself when it is known that these are all. */
async function nextItems({ run, source }: PreparedRun, after: string, bound: string, context: RequestContext) {
  const fields = { properties: run.needsProperties, vector: true, extras: true };
  const page = await run.page(run.record, source, fields, after, CHUNK, context);
  const items = bound === "" ? page : page.filter(({ id }) => id <= bound);
  const end = items.length < page.length ? bound : (items.at(-1)?.id ?? bound);
  return { items, end };
}

/** How many objects behind `after` up to `end` carry the job's id. */
async function countWritten({ run }: PreparedRun, after: string, end: string, context: RequestContext) {
  let count = 0;
  for await (const object of run.objects(run.record, undefined, MARKS, context, after)) {
    if (object.id > end) break;
    if (run.hasClassified(object)) count++;
  }
  return count;
}

function sum(a: JobCounts, b: JobCounts): JobCounts {
  return {
    succeeded: a.succeeded + b.succeeded,
    failed: a.failed + b.failed,
    errors: [...a.errors, ...b.errors].slice(0, ERRORS_MAX),
  };
}
