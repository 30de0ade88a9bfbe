import { setTimeout as sleep } from "node:timers/promises";
import { type RightsHolder, ShoalError, UnavailableHere } from "@shoal/model";
import type { Job, JobClaim, JobService } from "@shoal/rpc";
import { ClaimedRange } from "./claimed-range.js";
import type { ClassificationRequest } from "./classification-request.js";
import type { PreparedRun, RunParts } from "./classification-run.js";
import { isPassing } from "./classify-items.js";
import { classifyRange } from "./classify-range.js";
import { prepareRun } from "./prepare-run.js";

export interface ClassificationRunnerOptions extends RunParts {
  readonly jobs: JobService;
  /** Names this process. After a restart a process may have the same name, two at a time may not. */
  readonly worker: string;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Called for a job that ends because whoever has started it may not do it, or because no process has known him for too long. */
  readonly onForbidden?: (job: Job, startedBy: RightsHolder | undefined, error: ShoalError) => void;
  /** Called for what it could not do and tries again. */
  readonly onFailure: (error: ShoalError) => void;
}

const CLAIM_MS = 5_000;
const PREPARE_MS = 10 * 60_000;
/** How often it is looked whether somebody's range has become free. */
const LOOK_MS = 2_000;

/** Works on classifications, whoever has started them: one range at a time, until it is disposed of. */
export class ClassificationRunner implements AsyncDisposable {
  readonly #options: ClassificationRunnerOptions;
  readonly #stopped = new AbortController();
  readonly #subscription: Disposable;
  readonly #running: Promise<void>;
  #openRanges = 0;
  #wake = (): void => {};
  #prepared: { readonly jobId: string; readonly run: PreparedRun } | undefined;

  constructor(options: ClassificationRunnerOptions) {
    this.#options = options;
    this.#subscription = options.jobs.watch(({ openRanges }) => {
      this.#openRanges = openRanges;
      this.#wake();
    });
    this.#running = this.#run();
  }

  /** What was begun is left to others. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription[Symbol.dispose]();
    this.#stopped.abort(new ShoalError("unavailable", "the process ends"));
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { jobs, worker, nowMs, onFailure } = this.#options;
    while (!this.#stopped.signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      let claim: JobClaim | undefined;
      try {
        if (this.#openRanges > 0) claim = await jobs.claim(worker, { deadline: nowMs() + CLAIM_MS });
        if (claim !== undefined) await this.#work(claim);
      } catch (thrown) {
        if (!this.#stopped.signal.aborted) onFailure(ShoalError.from(thrown));
        claim = undefined;
      }
      if (claim === undefined) await this.#rest(woken);
    }
  }

  /** Until there is something new, or it is time to look. */
  async #rest(woken: Promise<void>): Promise<void> {
    this.#prepared = undefined;
    if (this.#openRanges === 0) return woken;
    const signal = this.#stopped.signal;
    await Promise.race([woken, sleep(LOOK_MS, undefined, { signal }).catch(() => undefined)]);
  }

  async #work(claim: JobClaim): Promise<void> {
    const { jobs, nowMs } = this.#options;
    using range = new ClaimedRange(claim, { jobs, nowMs, stopped: this.#stopped.signal });
    try {
      await classifyRange(await this.#preparedRun(claim.job, range.signal), range, nowMs);
    } catch (thrown) {
      const error = ShoalError.from(thrown);
      const isStopped = this.#stopped.signal.aborted;
      if (range.signal.aborted && !isStopped) return;
      const { startedBy } = claim.job.request as Partial<ClassificationRequest>;
      if (!isStopped && !isPassing(error)) {
        if (error.code === "forbidden") this.#options.onForbidden?.(claim.job, startedBy, error);
        return await range.abort(error.message);
      }
      if (isStopped) await range.release();
      else await this.#postpone(range, error, startedBy);
      throw error;
    }
  }

  /** Reports who may not go on, where the coordinator ends the job for it. */
  async #postpone(range: ClaimedRange, error: ShoalError, startedBy: RightsHolder | undefined): Promise<void> {
    const { onForbidden } = this.#options;
    const { job } = range.claim;
    const isOnlyHere = error instanceof UnavailableHere;
    await range.postpone(error.message, isOnlyHere);
    if (!isOnlyHere || onForbidden === undefined) return;
    const now = await this.#found(job.id);
    if (now?.status === "aborted") onForbidden(job, startedBy, error);
  }

  /** Asked for until a coordinator responds: nobody else tells of a job that has ended. */
  async #found(id: string): Promise<Job | undefined> {
    const { jobs, nowMs, onFailure } = this.#options;
    const { signal } = this.#stopped;
    for (;;) {
      try {
        return await jobs.find(id, { deadline: nowMs() + CLAIM_MS });
      } catch (thrown) {
        if (signal.aborted) throw thrown;
        onFailure(ShoalError.from(thrown));
        await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #preparedRun(job: Job, signal: AbortSignal): Promise<PreparedRun> {
    const known = this.#prepared;
    if (known?.jobId === job.id) return known.run;
    const run = await prepareRun(this.#options, job, { deadline: this.#options.nowMs() + PREPARE_MS, signal });
    this.#prepared = { jobId: job.id, run };
    return run;
  }
}
