import type { Json } from "@shoal/model";
import type { Job, JobCounts, RangeProgress } from "@shoal/rpc";
import { entriesUnder, type MetaChange, type MetaState } from "./meta-store.js";

/** Prefixes of the keys of jobs, and of their ranges that are not done, `job-range/<id>/<number>`. */
const JOB_PREFIX = "job/";
const RANGES_PREFIX = "job-range/";

/** A job as stored. `counts` are those of its ranges that are done. */
export interface StoredJob {
  readonly job: Job;
  /** Ranges that are not done. */
  readonly open: readonly number[];
  readonly order: number;
  /** While it gets nowhere. Times are milliseconds since 1970. */
  readonly stuck?: {
    readonly sinceMs: number;
    /** Until then nobody is given a range of it. */
    readonly postponedUntilMs: number;
  };
  /** Who cannot go on with it, until when: others may. */
  readonly unable?: Readonly<Record<string, number>>;
}

/** A range that is not done, as stored. */
export interface StoredRange {
  readonly jobId: string;
  readonly range: number;
  readonly upTo: string;
  readonly progress: RangeProgress;
  /** Empty: nobody works on it. */
  readonly worker: string;
  /** Milliseconds since 1970 after which the worker counts as gone. */
  readonly leaseUntilMs: number;
  readonly token: number;
}

/** The errors of items that a job tells. */
const ERRORS_MAX = 10;

export const NO_COUNTS: JobCounts = { succeeded: 0, failed: 0, errors: [] };

export function sumOfCounts(a: JobCounts, b: JobCounts): JobCounts {
  return {
    succeeded: a.succeeded + b.succeeded,
    failed: a.failed + b.failed,
    errors: [...a.errors, ...b.errors].slice(0, ERRORS_MAX),
  };
}

export function readJob({ entries }: MetaState, id: string): StoredJob | undefined {
  return entries.get(JOB_PREFIX + id) as unknown as StoredJob | undefined;
}

/** Those that were made first come first. */
export function readJobs(state: MetaState): readonly StoredJob[] {
  const jobs = Array.from(entriesUnder(JOB_PREFIX, state), ([, value]) => value as unknown as StoredJob);
  return jobs.sort((a, b) => a.order - b.order);
}

/** Undefined when it is done, or its job has ended. */
export function readRange({ entries }: MetaState, jobId: string, range: number): StoredRange | undefined {
  return entries.get(rangeKey(jobId, range)) as unknown as StoredRange | undefined;
}

export function putJob(stored: StoredJob): MetaChange {
  return { key: JOB_PREFIX + stored.job.id, value: plain(stored) };
}

export function removeJob(id: string): MetaChange {
  return { key: JOB_PREFIX + id, value: undefined };
}

export function putRange(stored: StoredRange): MetaChange {
  return { key: rangeKey(stored.jobId, stored.range), value: plain(stored) };
}

export function removeRange(jobId: string, range: number): MetaChange {
  return { key: rangeKey(jobId, range), value: undefined };
}

/** Of a class that is there as it was when the job was made. */
export function isClassThere(
  { entries }: MetaState,
  { className, classId }: Pick<Job, "className" | "classId">,
): boolean {
  const stored = entries.get(`class/${className}`) as { readonly record?: { readonly classId?: string } } | undefined;
  return stored?.record?.classId !== undefined && stored.record.classId === classId;
}

function rangeKey(jobId: string, range: number): string {
  return `${RANGES_PREFIX}${jobId}/${range}`;
}

/** Without members that are undefined, as it is read back. */
function plain(value: object): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/**
 * All ids cut into `count` ranges (1 to 256) of about the same size: where each begins, exclusive, and ends, inclusive;
 * empty where there is no bound.
 */
export function idRanges(count: number): readonly { readonly after: string; readonly upTo: string }[] {
  const bounds = Array.from({ length: count - 1 }, (_, at) => lastBefore(Math.floor(((at + 1) * 256) / count)));
  return [...bounds, ""].map((upTo, at) => ({ after: at === 0 ? "" : (bounds[at - 1] ?? ""), upTo }));
}

/** The last id before those that begin with this byte. */
function lastBefore(firstByte: number): string {
  return `${(firstByte - 1).toString(16).padStart(2, "0")}ffffff-ffff-ffff-ffff-ffffffffffff`;
}
