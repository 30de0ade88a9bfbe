import { CLIENT_PHRASES, ShoalError } from "@shoal/model";
import {
  type ClaimKey,
  type Job,
  type JobClaim,
  type JobService,
  type JobsNotice,
  type NewJob,
  type RangeReport,
  WatchedValue,
} from "@shoal/rpc";
import type { RequestContext } from "@shoal/runtime";
import type { Ledger, LedgerChange } from "./ledger.js";
import type { MetaChange, MetaState } from "./meta-store.js";
import {
  idRanges,
  isClassThere,
  NO_COUNTS,
  putJob,
  putRange,
  readJob,
  readJobs,
  readRange,
  removeJob,
  removeRange,
  type StoredJob,
  type StoredRange,
  sumOfCounts,
} from "./stored-jobs.js";
import { otherChanges } from "./stored-schema.js";

/** How long a runner may say nothing. */
const LEASE_MS = 10_000;
/** How long nobody tries a job again that cannot go on. */
const POSTPONED_MS = 10_000;
/** How long a job may be tried in vain (reference-graphql 7.3). */
const STUCK_MS_MAX = 30 * 60_000;
/** A job that nobody could try for longer starts again: everything was stopped, or other jobs had their turn. */
const UNTRIED_MS_MAX = 15 * 60_000;
const RUNNING_MAX = 100;
const ENDED_MAX = 1_000;
const RANGES_MAX = 64;

export interface JobRegistryOptions {
  readonly ledger: Ledger;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** {@link LEASE_MS} when absent. */
  readonly leaseMs?: number;
}

/** Jobs in the MetaStore. What a range has come to and who works on it is one value, changed by compare-and-set. */
export class JobRegistry implements JobService, Disposable {
  readonly #ledger: Ledger;
  readonly #nowMs: () => number;
  readonly #leaseMs: number;
  readonly #subscription: Disposable;
  readonly #notice: WatchedValue<JobsNotice>;

  constructor({ ledger, nowMs, leaseMs = LEASE_MS }: JobRegistryOptions) {
    this.#ledger = ledger;
    this.#nowMs = nowMs;
    this.#leaseMs = leaseMs;
    this.#notice = new WatchedValue(noticeOf(ledger.state));
    this.#subscription = ledger.onState((state) => this.#follow(state));
  }

  create({ ranges, ...job }: NewJob, context: RequestContext): Promise<Job> {
    return this.#change(context, (state) => {
      const known = readJob(state, job.id);
      if (known !== undefined) return { changes: [], result: known.job };
      if (!isClassThere(state, job)) throw new ShoalError("notFound", CLIENT_PHRASES.classNotFound(job.className));
      const jobs = readJobs(state);
      const ended = jobs.filter((one) => one.job.status !== "running");
      requireRoom(
        jobs.filter((one) => one.job.status === "running"),
        job.owner,
      );
      const startedMs = this.#nowMs();
      const made: Job = {
        ...job,
        status: "running",
        startedMs,
        endedMs: undefined,
        counts: NO_COUNTS,
        error: undefined,
      };
      const cut = idRanges(Math.min(RANGES_MAX, Math.max(1, ranges)));
      return {
        changes: [
          putJob({ job: made, open: cut.map((_, range) => range), order: state.revision + 1 }),
          ...cut.map(({ after, upTo }, range) =>
            putRange({
              jobId: job.id,
              range,
              upTo,
              progress: { after, pendingUpTo: "", counts: NO_COUNTS },
              worker: "",
              leaseUntilMs: 0,
              token: 0,
            }),
          ),
          ...outdated(ended).map((one) => removeJob(one.job.id)),
        ],
        result: made,
      };
    });
  }

  async find(id: string, _context: RequestContext): Promise<Job | undefined> {
    const state = await this.#ledger.current();
    const stored = readJob(state, id);
    if (stored === undefined) return undefined;
    // Whoever looks for work ends such a job in the store, too.
    const isGone = stored.job.status === "running" && !isClassThere(state, stored.job);
    return withMembers(isGone ? this.#abortedJob(stored.job, classGone(stored.job)) : stored.job);
  }

  claim(worker: string, context: RequestContext): Promise<JobClaim | undefined> {
    return this.#change(context, (state) => {
      const nowMs = this.#nowMs();
      const changes: MetaChange[] = [];
      const running = readJobs(state).filter(({ job }) => job.status === "running");
      const there = running.filter(({ job }) => isClassThere(state, job));
      for (const stored of running) if (!there.includes(stored)) changes.push(...this.#classGone(stored));
      const due = there
        .filter(({ stuck }) => stuck === undefined || stuck.postponedUntilMs <= nowMs)
        .filter(({ unable = {} }) => (unable[worker] ?? 0) <= nowMs)
        .sort((a, b) => itemsDone(a) - itemsDone(b));
      const ranges = due.flatMap(({ job, open }) =>
        open.flatMap((range) => {
          const stored = readRange(state, job.id, range);
          return stored === undefined ? [] : [{ job, stored }];
        }),
      );
      const free =
        ranges.find(({ stored }) => stored.worker === worker) ?? ranges.find(({ stored }) => isFree(stored, nowMs));
      if (free === undefined) return { changes, result: undefined };
      const { job, stored } = free;
      const claimed = { ...stored, worker, token: stored.token + 1, leaseUntilMs: nowMs + this.#leaseMs };
      const { range, token, upTo, progress } = claimed;
      const result = { job: withMembers(job), range, token, upTo, progress, leaseMs: this.#leaseMs };
      return { changes: [...changes, putRange(claimed)], result };
    });
  }

  async report(
    { progress, state: end, reason, isOnlyHere, ...key }: RangeReport,
    context: RequestContext,
  ): Promise<void> {
    const isGone = await this.#change(context, (state): LedgerChange<boolean> => {
      const { stored, range } = this.#held(state, key);
      if (!isClassThere(state, stored.job)) return { changes: this.#classGone(stored), result: true };
      if (end === "done") return { changes: this.#rangeDone(stored, range, progress.counts), result: false };
      if (end === "postponed") {
        const postponed = this.#postponed(stored, { ...range, progress }, reason, isOnlyHere === true);
        return { changes: postponed, result: false };
      }
      const leaseUntilMs = this.#nowMs() + this.#leaseMs;
      const worker = end === "released" ? { worker: "", leaseUntilMs: 0 } : { leaseUntilMs };
      const changes = [putRange({ ...range, ...worker, progress })];
      const moves = stored.stuck !== undefined && progress.after !== range.progress.after;
      return { changes: moves ? [...changes, putJob(goingOn(stored))] : changes, result: false };
    });
    if (isGone) throw new ShoalError("conflict", `job ${key.jobId} has ended: its class is gone`);
  }

  abort(claim: ClaimKey, error: string, context: RequestContext): Promise<void> {
    return this.#change(context, (state) => {
      const { stored } = this.#held(state, claim);
      const isThere = isClassThere(state, stored.job);
      return { changes: isThere ? this.#aborted(stored, error) : this.#classGone(stored), result: undefined };
    });
  }

  watch(listener: (notice: JobsNotice) => void): Disposable {
    return this.#notice.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    this.#notice.forgetListeners();
  }

  #change<T>(context: RequestContext, decide: (state: MetaState) => LedgerChange<T>): Promise<T> {
    return this.#ledger.change(context, (state) => {
      const { changes, result } = decide(state);
      return { changes: changes.length === 0 ? changes : otherChanges(state, changes), result };
    });
  }

  /** Fails with `conflict` when the range is somebody else's by now, or done. */
  #held(state: MetaState, { jobId, range: number, token }: ClaimKey): { stored: StoredJob; range: StoredRange } {
    const stored = readJob(state, jobId);
    const range = readRange(state, jobId, number);
    if (stored === undefined || range === undefined || range.token !== token) {
      throw new ShoalError("conflict", `range ${number} of job ${jobId} is not this worker's any more`);
    }
    return { stored, range };
  }

  #rangeDone({ job, open, order }: StoredJob, { range }: StoredRange, done: Job["counts"]): readonly MetaChange[] {
    const left = open.filter((one) => one !== range);
    const counts = sumOfCounts(job.counts, done);
    const end = left.length === 0 ? ({ status: "done", endedMs: this.#nowMs() } as const) : {};
    return [putJob({ job: { ...job, counts, ...end }, open: left, order }), removeRange(job.id, range)];
  }

  /** Nobody tries it for a while; when only who says so cannot go on, he does not. */
  #postponed(
    stored: StoredJob,
    range: StoredRange,
    reason = "it cannot go on",
    isOnlyHere: boolean,
  ): readonly MetaChange[] {
    const nowMs = this.#nowMs();
    const { stuck: before } = stored;
    const isTried = before !== undefined && nowMs - before.postponedUntilMs <= UNTRIED_MS_MAX;
    const sinceMs = isTried ? before.sinceMs : nowMs;
    if (nowMs - sinceMs >= STUCK_MS_MAX) return this.#aborted(stored, reason);
    const untilMs = nowMs + POSTPONED_MS;
    const stuck = { sinceMs, postponedUntilMs: isOnlyHere ? Math.max(before?.postponedUntilMs ?? 0, nowMs) : untilMs };
    const stillUnable = Object.entries(stored.unable ?? {}).filter(([, endsMs]) => endsMs > nowMs);
    const unable = Object.fromEntries(isOnlyHere ? [...stillUnable, [range.worker, untilMs]] : stillUnable);
    return [putJob({ ...stored, stuck, unable }), putRange({ ...range, worker: "", leaseUntilMs: 0 })];
  }

  #classGone(stored: StoredJob): readonly MetaChange[] {
    return this.#aborted(stored, classGone(stored.job));
  }

  #aborted({ job, open, order }: StoredJob, error: string): readonly MetaChange[] {
    return [
      putJob({ job: this.#abortedJob(job, error), open: [], order }),
      ...open.map((range) => removeRange(job.id, range)),
    ];
  }

  #abortedJob(job: Job, error: string): Job {
    return { ...job, status: "aborted", endedMs: this.#nowMs(), error };
  }

  #follow(state: MetaState): void {
    const notice = noticeOf(state);
    const { known } = this.#notice;
    if (notice.openRanges !== known?.openRanges || notice.version !== known.version) this.#notice.set(notice);
  }
}

/** Builds before this one took jobs of no class. */
const classGone = ({ className }: Partial<Pick<Job, "className">>): string =>
  className === undefined ? "it names no class" : `class '${className}' was deleted`;

/** Fails with `overloaded` when too many jobs run, or when the owner has half of the places that others leave. */
function requireRoom(running: readonly StoredJob[], owner: string | undefined): void {
  const refused = (reason: string) => new ShoalError("overloaded", reason, { retryAfterSeconds: 5 });
  if (running.length >= RUNNING_MAX) throw refused(`${running.length} jobs are running, at most ${RUNNING_MAX} may`);
  if (owner === undefined) return;
  const own = running.filter(({ job }) => job.owner === owner).length;
  const ownMax = Math.max(1, Math.floor((RUNNING_MAX - (running.length - own)) / 2));
  if (own >= ownMax) throw refused(`${own} jobs of one user are running, at most ${ownMax} may beside those of others`);
}

/** Those that make room for one more: each time the oldest of the owner who has the most. */
function outdated(ended: readonly StoredJob[]): readonly StoredJob[] {
  const byOwner = new Map<string | undefined, StoredJob[]>();
  for (const one of ended) {
    const { owner } = one.job;
    const others = byOwner.get(owner);
    if (others === undefined) byOwner.set(owner, [one]);
    else others.push(one);
  }
  return Array.from({ length: Math.max(0, ended.length + 1 - ENDED_MAX) }, () => {
    const most = [...byOwner.values()].reduce((a, b) => (b.length > a.length ? b : a));
    return most.shift() as StoredJob;
  });
}

function isFree({ worker, leaseUntilMs }: StoredRange, nowMs: number): boolean {
  return worker === "" || leaseUntilMs <= nowMs;
}

/** Those of which less was done go first: a small one does not wait until a large one has ended. */
function itemsDone({ job: { counts } }: StoredJob): number {
  return counts.succeeded + counts.failed;
}

function goingOn({ stuck: _, ...stored }: StoredJob): StoredJob {
  return stored;
}

function noticeOf(state: MetaState): JobsNotice {
  const jobs = readJobs(state);
  return { openRanges: jobs.reduce((sum, { open }) => sum + open.length, 0), version: jobs.at(-1)?.order ?? 0 };
}

/** JSON has no members that are undefined. */
function withMembers(job: Job): Job {
  return { ...job, endedMs: job.endedMs, error: job.error };
}
