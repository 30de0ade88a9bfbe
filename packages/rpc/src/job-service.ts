import type { JsonObject } from "@shoal/model";
import type { RequestContext } from "@shoal/runtime";
import type { WatchService } from "./snapshot-service.js";

/** Work on the objects of a class that goes on when nobody waits for it. */
export interface NewJob {
  /** A fresh uuid. */
  readonly id: string;
  readonly className: string;
  /** The job ends with the class of this id: one that is made again is another one. */
  readonly classId: string;
  /** What is to be done; only its runners read it. */
  readonly request: JsonObject;
  /** Whose it is, where that is known: of these a coordinator gives nobody all places. */
  readonly owner?: string;
  /** The class's ids are cut into so many ranges, which several processes can work on at once; 1 to 64. */
  readonly ranges: number;
}

/** What became of items so far. */
export interface JobCounts {
  readonly succeeded: number;
  readonly failed: number;
  /** Why the first of them failed. */
  readonly errors: readonly string[];
}

export interface Job extends Omit<NewJob, "ranges"> {
  /** `done`: all ranges were gone through; `aborted`: `error` says why nobody goes on. */
  readonly status: "running" | "done" | "aborted";
  /** Milliseconds since 1970, by the coordinator's clock. */
  readonly startedMs: number;
  /** Milliseconds since 1970; undefined while it runs. */
  readonly endedMs: number | undefined;
  readonly counts: JobCounts;
  readonly error: string | undefined;
}

/**
 * How far a range has come. Before a runner writes anything about items it announces them by `pendingUpTo`: whoever goes
 * on after it knows that only items up to there may have been written without being counted.
 */
export interface RangeProgress {
  /** Items up to this id are done and counted; empty: none is. */
  readonly after: string;
  /** Items behind `after` up to this id are under way; empty: none is. */
  readonly pendingUpTo: string;
  readonly counts: JobCounts;
}

/** A range of a job that somebody works on. It is his until `leaseMs` after he last told of it. */
export interface JobClaim {
  readonly job: Job;
  readonly range: number;
  /** Grows with every claim of the range: a process that was replaced is refused by it. */
  readonly token: number;
  /** The range's ids are up to this one; empty: up to the last there is. */
  readonly upTo: string;
  readonly progress: RangeProgress;
  readonly leaseMs: number;
}

/** Names a claim. */
export interface ClaimKey {
  readonly jobId: string;
  readonly range: number;
  readonly token: number;
}

export interface RangeReport extends ClaimKey {
  readonly progress: RangeProgress;
  /**
   * `working` keeps the claim, `done` ends the range, `released` lets others go on with it at once. `postponed`: it cannot go
   * on for now; other jobs come first, and a job that got nowhere for half an hour is aborted.
   */
  readonly state: "working" | "done" | "released" | "postponed";
  /** With `postponed`: why. */
  readonly reason?: string;
  /** With `postponed`: others may be able to go on with it at once. Coordinators before this one know no difference. */
  readonly isOnlyHere?: boolean;
}

/** What processes that work on jobs look at. */
export interface JobsNotice {
  /** Ranges of jobs that are not done yet, whether somebody works on them or not. */
  readonly openRanges: number;
  /** Grows with every new job. */
  readonly version: number;
}

/** The coordinator's jobs, kept over restarts. All methods fail with `unavailable` when it cannot be reached. */
export interface JobService extends WatchService<JobsNotice> {
  /** Durable when it resolves. Fails with `overloaded` when too many run, with `notFound` when the class is gone. */
  create(job: NewJob, context: RequestContext): Promise<Job>;
  /** With every change that was answered before this was called. Of jobs that have ended only the last 1,000 are known. */
  find(id: string, context: RequestContext): Promise<Job | undefined>;
  /**
   * A range that nobody works on, of the job of which the fewest items are done; undefined when there is none. A `worker`
   * gets back at once what it had before it was started again. Jobs whose class is gone are aborted.
   */
  claim(worker: string, context: RequestContext): Promise<JobClaim | undefined>;
  /** Durable when it resolves. Fails with `conflict` when the range is not the caller's any more, or its job has ended. */
  report(report: RangeReport, context: RequestContext): Promise<void>;
  /** Ends a job that cannot go on. Fails with `conflict` as `report` does. */
  abort(claim: ClaimKey, error: string, context: RequestContext): Promise<void>;
}
