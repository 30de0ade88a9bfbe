import type { RequestContext } from "@shoal/runtime";
import type { JobAnswer__Output } from "../generated/shoal/JobAnswer.js";
import type { JobsNotice__Output } from "../generated/shoal/JobsNotice.js";
import type { ClaimKey, Job, JobClaim, JobService, JobsNotice, NewJob, RangeReport } from "../job-service.js";
import { WatchedValue } from "../watched-value.js";
import { JOBS } from "../wire/load-protos.js";
import type { CoordinatorCalls } from "./coordinator-calls.js";
import { FollowedStream } from "./followed-stream.js";

/** The near side of `JobService`. */
export class CoordinatorJobs implements JobService, Disposable {
  readonly #calls: CoordinatorCalls;
  readonly #stream: FollowedStream<JobsNotice__Output>;
  readonly #notice = new WatchedValue<JobsNotice | undefined>(undefined);

  constructor(calls: CoordinatorCalls) {
    this.#calls = calls;
    this.#stream = new FollowedStream<JobsNotice__Output>({
      open: () => calls.listen(JOBS.Watch, {}),
      onItem: ({ openRanges, version }) => this.#notice.set({ openRanges, version }),
      onEnd: () => undefined,
    });
  }

  /** A job has an id: made twice it is made once. */
  async create(job: NewJob, context: RequestContext): Promise<Job> {
    return read<Job>(await this.#calls.ask(JOBS.Create, { json: written(job) }, context, true));
  }

  async find(id: string, context: RequestContext): Promise<Job | undefined> {
    return readOptional<Job>(await this.#calls.ask(JOBS.Find, { id }, context, true));
  }

  /** What was claimed and not heard of comes back to the same worker. */
  async claim(worker: string, context: RequestContext): Promise<JobClaim | undefined> {
    return readOptional<JobClaim>(await this.#calls.ask(JOBS.Claim, { worker }, context, true));
  }

  async report(report: RangeReport, context: RequestContext): Promise<void> {
    await this.#calls.ask(JOBS.Report, { json: written(report) }, context, false);
  }

  async abort(claim: ClaimKey, error: string, context: RequestContext): Promise<void> {
    await this.#calls.ask(JOBS.Abort, { claimJson: written(claim), error }, context, false);
  }

  watchJobs(listener: (notice: JobsNotice) => void): Disposable {
    return this.#notice.watch(listener);
  }

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
    this.#notice.forgetListeners();
  }
}

function written(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function read<T>({ json }: JobAnswer__Output): T {
  return JSON.parse(json.toString()) as T;
}

function readOptional<T>(answer: JobAnswer__Output): T | undefined {
  return answer.json.length === 0 ? undefined : read<T>(answer);
}
