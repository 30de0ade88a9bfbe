import type { Job } from "@shoal/rpc";
import type { ClassificationRequest } from "./classification-request.js";

/** A classification as `GET /v1/classifications/{id}` shows it (specification, "Classification"; reference-rest 10). */
export interface ClassificationRecord extends ClassificationRequest {
  readonly id: string;
  readonly status: "running" | "completed" | "failed";
  readonly error?: string;
  readonly meta: {
    readonly started: string;
    /** The year 1 while it runs, and when it failed before its first item. */
    readonly completed: string;
    readonly count?: number;
    readonly countSucceeded?: number;
    readonly countFailed?: number;
  };
}

const NEVER = "0001-01-01T00:00:00.000Z";
const FAILED = "classification failed: ";
const NO_ITEMS = "no classes to be classified - did you run a previous classification already?";

/** Members in the order of responses; counts that are 0 are left out. */
export function classificationRecord(job: Job): ClassificationRecord {
  const request = job.request as unknown as ClassificationRequest;
  const { basedOnProperties, class: className, classifyProperties, filters, settings, type } = request;
  const { status, error, ended, counts } = outcomeOf(job);
  return {
    basedOnProperties,
    class: className,
    classifyProperties,
    ...(error === undefined ? {} : { error: FAILED + error }),
    ...(filters === undefined ? {} : { filters }),
    id: job.id,
    meta: { completed: ended === undefined ? NEVER : time(ended), ...counts, started: time(job.startedMs) },
    ...(settings === undefined ? {} : { settings }),
    status,
    type,
  };
}

function outcomeOf({ status, error, endedMs, counts }: Job) {
  if (status === "running") return { status: "running" } as const;
  if (status === "aborted") return { status: "failed", error: error ?? "" } as const;
  const { succeeded, failed, errors } = counts;
  if (succeeded + failed === 0) return { status: "failed", error: NO_ITEMS } as const;
  const shown = {
    count: succeeded + failed,
    ...(failed === 0 ? {} : { countFailed: failed }),
    ...(succeeded === 0 ? {} : { countSucceeded: succeeded }),
  };
  if (failed === 0) return { status: "completed", ended: endedMs, counts: shown } as const;
  const unlisted = failed - errors.length;
  const all = [...errors, ...(unlisted > 0 ? [`and ${unlisted} more`] : []), "data save error"];
  return { status: "failed", error: all.join(", "), ended: endedMs, counts: shown } as const;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
